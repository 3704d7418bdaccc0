// Package wstest implements the peer of a WebSocket in tests, frame by frame.
package wstest

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/scorel/scorel/apps/relay/internal/ws"
)

// Message is one frame from the relay.
type Message struct {
	Op   ws.Op
	Data []byte
}

// ReadMessages reads unmasked frames until the end of the stream.
func ReadMessages(t testing.TB, r io.Reader) []Message {
	t.Helper()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var out []Message
	for len(all) > 0 {
		n, at := int(all[1]), 2
		switch n {
		case 126:
			n, at = int(binary.BigEndian.Uint16(all[2:])), 4
		case 127:
			n, at = int(binary.BigEndian.Uint64(all[2:])), 10
		}
		out = append(out, Message{ws.Op(all[0] & 0x0F), all[at : at+n]})
		all = all[at+n:]
	}
	return out
}

// CountRecords reads frames until the end of the stream or an error, and returns the size
// of all binary messages in bytes.
func CountRecords(r io.Reader) (bytes int) {
	var head [10]byte
	for {
		if _, err := io.ReadFull(r, head[:2]); err != nil {
			return bytes
		}
		n := uint64(head[1])
		switch n {
		case 126:
			_, _ = io.ReadFull(r, head[2:4]) // reading the payload reports an error
			n = uint64(binary.BigEndian.Uint16(head[2:]))
		case 127:
			_, _ = io.ReadFull(r, head[2:10])
			n = binary.BigEndian.Uint64(head[2:])
		}
		got, err := io.CopyN(io.Discard, r, int64(n))
		if ws.Op(head[0]&0x0f) == ws.OpBinary {
			bytes += int(got)
		}
		if err != nil {
			return bytes
		}
	}
}

// MaskedHeader is the beginning of a frame from a peer, with a mask of zeroes.
func MaskedHeader(first byte, n int) []byte {
	head := []byte{first, 0x80 | 127}
	head = binary.BigEndian.AppendUint64(head, uint64(n))
	return append(head, 0, 0, 0, 0)
}

// TCPPair returns both ends of a TCP connection on this machine. The test closes them.
func TCPPair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() }) // the test may have closed them
	return near, far
}
