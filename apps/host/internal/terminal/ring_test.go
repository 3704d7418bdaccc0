package terminal

import (
	"bytes"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestRingKeepsTheLatest: whatever the pieces are, the last bytes are there at their offsets,
// and memory stays bounded.
func TestRingKeepsTheLatest(t *testing.T) {
	for _, size := range []int{1, 1000, 4095, 32 << 10, api.TerminalBytes - 1, api.TerminalBytes} {
		var r ring
		var all []byte
		for i := byte(0); len(all) < 3*api.TerminalBytes; i++ {
			piece := bytes.Repeat([]byte{i}, size)
			all = append(all, piece...)
			r.add(piece)
			if len(r.kept) > 2*api.TerminalBytes {
				t.Fatalf("pieces of %d bytes: %d are kept", size, len(r.kept))
			}
		}
		from := r.from()
		if r.end != int64(len(all)) || r.end-from != api.TerminalBytes {
			t.Errorf("pieces of %d bytes: from %d to %d of %d", size, from, r.end, len(all))
		}
		if !bytes.Equal(r.at(from, len(all)), all[from:]) || !bytes.Equal(r.at(r.end-7, 3), all[len(all)-7:len(all)-4]) || len(r.at(r.end, 9)) != 0 {
			t.Errorf("pieces of %d bytes: the content is wrong", size)
		}
	}
}
