package dispatch

import (
	"context"
	"sync"
)

// Limits of the requests of one connection that run beside its reader. Each has a goroutine and a
// copy of its body, which may have 16 MiB.
const (
	maxRunning      = 64
	maxRunningBytes = 32 << 20
)

// running counts the requests of a connection that run beside its reader. Only the reader calls
// begin.
type running struct {
	freed chan struct{} // holds one token after a request ended

	mu    sync.Mutex
	count int
	bytes int
}

func newRunning() running { return running{freed: make(chan struct{}, 1)} }

// begin counts a request of n bytes, and waits until there is room for it. One request always has
// room.
func (r *running) begin(ctx context.Context, n int) error {
	for !r.take(n) {
		select {
		case <-r.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r *running) take(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count > 0 && (r.count >= maxRunning || r.bytes+n > maxRunningBytes) {
		return false
	}
	r.count++
	r.bytes += n
	return true
}

// end is called when a request has ended.
func (r *running) end(n int) {
	r.mu.Lock()
	r.count--
	r.bytes -= n
	r.mu.Unlock()
	select {
	case r.freed <- struct{}{}:
	default:
	}
}
