package session

import "hash/maphash"

// places finds entries by their keys: an open-addressing table that holds the place
// of each entry but not the key, which the entry has. It takes a quarter of the
// memory of a map. A slot is 0, or half of the key's hash above the place plus 1.
type places struct {
	slots []uint64 // length is a power of two
	count int      // number of distinct keys
	seed  maphash.Seed
}

func makePlaces(entries int) places {
	size := 8
	for size/8*7 < entries {
		size *= 2
	}
	return places{slots: make([]uint64, size), seed: maphash.MakeSeed()}
}

// find returns the slot that has the key, or the free one for it.
func (p *places) find(entries []Entry, key string) (slot int, hash uint64) {
	hash = maphash.String(p.seed, key) >> 32
	mask := len(p.slots) - 1
	for slot = int(hash) & mask; p.slots[slot] != 0; slot = (slot + 1) & mask {
		if content := p.slots[slot]; content>>32 == hash && entries[uint32(content)-1].key() == key {
			break
		}
	}
	return slot, hash
}

// get returns the place of the last entry with the key.
func (p *places) get(entries []Entry, key string) (place int, ok bool) {
	slot, _ := p.find(entries, key)
	return int(uint32(p.slots[slot])) - 1, p.slots[slot] != 0
}

// put records the entry at a place, which must already be in entries.
func (p *places) put(entries []Entry, place int) {
	slot, hash := p.find(entries, entries[place].key())
	if p.slots[slot] == 0 {
		p.count++
	}
	p.slots[slot] = hash<<32 | uint64(place+1)
	if p.count > len(p.slots)/8*7 {
		p.grow()
	}
}

func (p *places) grow() {
	old := p.slots
	p.slots = make([]uint64, 2*len(old))
	mask := len(p.slots) - 1
	for _, content := range old {
		if content == 0 {
			continue
		}
		slot := int(content>>32) & mask
		for p.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		p.slots[slot] = content
	}
}
