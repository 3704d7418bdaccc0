package terminal

import "github.com/scorel/scorel/packages/protocol/api"

// ring holds the latest output. It keeps at least the last api.TerminalBytes, and takes at
// most twice as much memory.
type ring struct {
	kept []byte
	end  int64 // offset behind the last byte
}

// from is the offset of the first byte that the ring still has.
func (r *ring) from() int64 { return r.end - int64(min(len(r.kept), api.TerminalBytes)) }

// add appends output, which is at most api.TerminalBytes long.
func (r *ring) add(output []byte) {
	if len(r.kept)+len(output) > 2*api.TerminalBytes {
		keep := api.TerminalBytes - len(output)
		r.kept = r.kept[:copy(r.kept, r.kept[len(r.kept)-keep:])]
	}
	r.kept = append(r.kept, output...)
	r.end += int64(len(output))
}

// at returns at most limit bytes at an offset between from and end. They are valid until the
// next add.
func (r *ring) at(offset int64, limit int) []byte {
	rest := r.kept[len(r.kept)-int(r.end-offset):]
	return rest[:min(len(rest), limit)]
}
