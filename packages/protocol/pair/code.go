package pair

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// SecretLen is the size in bytes of the part of a code that no relay sees.
const SecretLen = 5

const (
	secretDigits = 8 // 40 bits, 5 to a digit
	codeDigits   = wire.SlotLen + secretDigits
)

// ErrCode is returned for text that is not a pairing code.
var ErrCode = errors.New("this is not a pairing code: it looks like 7K3M-9QXR-2BTD (digits and letters, no I, L, O or U)")

// Code is a pairing code: a slot that the relay knows and a secret that it never
// sees. It prints only through Reveal, so that it cannot end up in a log.
type Code struct {
	slot   string
	secret [SecretLen]byte
}

// NewCode generates a secret for a slot that the relay assigned.
func NewCode(slot string, random io.Reader) (Code, error) {
	if !wire.ValidSlot(slot) {
		return Code{}, ErrCode
	}
	c := Code{slot: slot}
	if _, err := io.ReadFull(random, c.secret[:]); err != nil {
		return Code{}, fmt.Errorf("pair: reading entropy: %w", err)
	}
	return c, nil
}

// ParseCode parses a code as people type it: any case, with or without dashes and
// blanks, O for 0, I and L for 1. It returns ErrCode for anything else.
func ParseCode(text string) (Code, error) {
	var digits [codeDigits]byte
	n := 0
	for i := range len(text) {
		b := text[i]
		if b == '-' || b == ' ' {
			continue
		}
		d := digitOf(b)
		if d < 0 || n == codeDigits {
			return Code{}, ErrCode
		}
		digits[n] = byte(d)
		n++
	}
	if n != codeDigits {
		return Code{}, ErrCode
	}
	var slot strings.Builder
	for _, d := range digits[:wire.SlotLen] {
		slot.WriteByte(wire.Crockford[d])
	}
	var bits uint64
	for _, d := range digits[wire.SlotLen:] {
		bits = bits<<5 | uint64(d)
	}
	c := Code{slot: slot.String()}
	var wide [8]byte
	binary.BigEndian.PutUint64(wide[:], bits)
	copy(c.secret[:], wide[8-SecretLen:])
	return c, nil
}

func digitOf(b byte) int {
	if 'a' <= b && b <= 'z' {
		b -= 'a' - 'A'
	}
	switch b {
	case 'O':
		b = '0'
	case 'I', 'L':
		b = '1'
	}
	return strings.IndexByte(wire.Crockford, b)
}

// Slot returns the relay's half of the code.
func (c Code) Slot() string { return c.slot }

// Reveal returns the code for a person to read or type: SSSS-XXXX-XXXX.
func (c Code) Reveal() string {
	var wide [8]byte
	copy(wide[8-SecretLen:], c.secret[:])
	bits := binary.BigEndian.Uint64(wide[:])
	var out [secretDigits]byte
	for i := secretDigits - 1; i >= 0; i-- {
		out[i] = wire.Crockford[bits&31]
		bits >>= 5
	}
	return c.slot + "-" + string(out[:4]) + "-" + string(out[4:])
}

// String hides the secret.
func (c Code) String() string { return c.slot + "-****-****" }

// GoString hides the secret from %#v.
func (c Code) GoString() string { return "pair.Code(" + c.String() + ")" }

// MarshalText hides the secret from encoders and loggers.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
