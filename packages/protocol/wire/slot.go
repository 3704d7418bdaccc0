package wire

import "strings"

// SlotLen is the number of digits of a pairing slot: 20 bits.
const SlotLen = 4

// Crockford is the alphabet of slots and pairing secrets: no I, L, O or U.
const Crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ValidSlot reports whether s is a slot in its canonical, upper-case form.
func ValidSlot(s string) bool {
	if len(s) != SlotLen {
		return false
	}
	for i := range len(s) {
		if strings.IndexByte(Crockford, s[i]) < 0 {
			return false
		}
	}
	return true
}
