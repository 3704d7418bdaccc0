package ws

import (
	"crypto/subtle"
	"encoding/binary"
)

// HeaderRoom is the size in bytes of the longest header of an unmasked frame.
const HeaderRoom = 10

// PutHeader writes the header of an unmasked, final frame with a payload of n bytes
// right-aligned into room, so that header and payload are contiguous. It returns
// the offset at which the header begins.
func PutHeader(room *[HeaderRoom]byte, op Op, n int) int {
	switch {
	case n <= maxControlPayload:
		room[8], room[9] = 0x80|byte(op), byte(n)
		return 8
	case n <= 0xFFFF:
		room[6], room[7] = 0x80|byte(op), 126
		binary.BigEndian.PutUint16(room[8:], uint16(n))
		return 6
	default:
		room[0], room[1] = 0x80|byte(op), 127
		binary.BigEndian.PutUint64(room[2:], uint64(n))
		return 0
	}
}

// ClosePayload returns the payload of a close frame. A reason over 123 bytes is
// cut, because a control frame cannot hold more.
func ClosePayload(status int, reason string) []byte {
	reason = reason[:min(len(reason), maxControlPayload-2)]
	return append(binary.BigEndian.AppendUint16(nil, uint16(status)), reason...)
}

// CloseStatus parses the status of a received close payload: StatusNormal if it is
// empty.
func CloseStatus(payload []byte) int {
	if len(payload) < 2 {
		return StatusNormal
	}
	return int(binary.BigEndian.Uint16(payload))
}

// patternLen is how much of a mask is repeated for the wide XOR of crypto/subtle.
const patternLen = 512

// unmask XORs b in place with the mask key, whose next byte is key[pos], and
// returns the next pos.
func unmask(b []byte, key [4]byte, pos int) int {
	if len(b) < 128 {
		for i := range b {
			b[i] ^= key[(pos+i)&3]
		}
		return (pos + len(b)) & 3
	}
	next := (pos + len(b)) & 3
	var pattern [patternLen]byte
	for i := range 4 {
		pattern[i] = key[(pos+i)&3]
	}
	for n := 4; n < patternLen; n *= 2 {
		copy(pattern[n:], pattern[:n])
	}
	for len(b) > 0 {
		n := subtle.XORBytes(b, b, pattern[:])
		b = b[n:]
	}
	return next
}
