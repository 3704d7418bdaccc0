package relayconn

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"testing"
)

// readFrame reads a frame as RFC 6455 describes it, byte by byte.
func readFrame(t *testing.T, data []byte) (opcode byte, key, payload []byte) {
	t.Helper()
	if data[0]&0xf0 != 0x80 || data[1]&0x80 == 0 {
		t.Fatalf("the frame begins with %x: want the last of its message, masked", data[:2])
	}
	opcode, n := data[0]&0x0f, int(data[1]&0x7f)
	shortest := 0
	switch data = data[2:]; n {
	case 126:
		n, data, shortest = int(binary.BigEndian.Uint16(data)), data[2:], 126
	case 127:
		n, data, shortest = int(binary.BigEndian.Uint64(data)), data[8:], 1<<16
	}
	if n < shortest {
		t.Errorf("%d bytes are announced in a longer form than needed", n)
	}
	key, data = data[:4], data[4:]
	if len(data) != n {
		t.Fatalf("the frame announces %d bytes and has %d", n, len(data))
	}
	for i, b := range data {
		payload = append(payload, b^key[i%4])
	}
	return opcode, key, payload
}

func TestFramesAreThoseOfTheStandard(t *testing.T) {
	var keys [][]byte
	for _, n := range []int{0, 1, 3, 4, 125, 126, 127, maskStep - 1, maskStep, maskStep + 3, 1<<16 - 1, 1 << 16, 200_001} {
		payload := make([]byte, n)
		if _, err := rand.Read(payload); err != nil {
			t.Fatal(err)
		}
		made, err := frame(opBinary, append(make([]byte, frameRoom), payload...))
		if err != nil {
			t.Fatal(err)
		}
		opcode, key, got := readFrame(t, made)
		if opcode != opBinary || !bytes.Equal(got, payload) {
			t.Errorf("%d bytes: opcode %d, the payload is the same: %v", n, opcode, bytes.Equal(got, payload))
		}
		if slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) }) {
			t.Errorf("%d bytes: the masking key %x was used before", n, key)
		}
		keys = append(keys, key)
	}
}
