package relayconn

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
)

// Opcodes of the data frames of RFC 6455, section 5.2.
const (
	opText   = 0x1
	opBinary = 0x2
)

// frameRoom is how many bytes before a payload its frame header may need: two,
// eight for the length, and the masking key.
const frameRoom = 2 + 8 + 4

// maskStep is how many bytes are masked at a time.
const maskStep = 1 << 10

// frame builds the only WebSocket frame of a message, in place: message has
// frameRoom unused bytes before its payload, which is masked as required of
// clients. It returns the part of message that is the frame.
func frame(opcode byte, message []byte) ([]byte, error) {
	payload := message[frameRoom:]
	var key [4]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("generating a masking key: %w", err)
	}
	mask(payload, key)
	n := len(payload)
	start := frameRoom - 4 - 2
	switch {
	case n > 0xffff:
		start -= 8
		message[start+1] = 127
		binary.BigEndian.PutUint64(message[start+2:], uint64(n))
	case n > 125:
		start -= 2
		message[start+1] = 126
		binary.BigEndian.PutUint16(message[start+2:], uint16(n))
	default:
		message[start+1] = byte(n)
	}
	message[start] = 0x80 | opcode // the only frame of its message
	message[start+1] |= 0x80       // masked
	copy(message[frameRoom-4:], key[:])
	return message[start:], nil
}

// mask applies a masking key (RFC 6455, section 5.3), in place.
func mask(payload []byte, key [4]byte) {
	var pattern [maskStep]byte
	n := copy(pattern[:], key[:])
	for size := min(len(payload), maskStep); n < size; {
		n += copy(pattern[n:], pattern[:n])
	}
	for len(payload) > 0 {
		n := subtle.XORBytes(payload, payload, pattern[:min(len(payload), maskStep)])
		payload = payload[n:]
	}
}
