package client

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
)

// inbox is a queue of records, bounded in bytes, whose writer never blocks. Its
// reader takes all that waits at once, so that records that came together cost one
// wake-up and two locks.
type inbox struct {
	ready chan struct{} // holds one token while there may be something to take; closed in the end
	done  chan struct{} // closed in the end

	maxSize int          // bytes
	size    atomic.Int64 // bytes put and not taken

	// Owned by the reader.
	taken [][]byte
	next  int // index of the next in taken

	mu      sync.Mutex
	records [][]byte
	block   []byte // short records are copied into one block after another
	err     error  // why it ended
}

func newInbox(maxSize int) *inbox {
	return &inbox{ready: make(chan struct{}, 1), done: make(chan struct{}), maxSize: maxSize}
}

// put copies records in; false when one does not fit, and none behind it is in.
func (b *inbox) put(records ...[]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return true // closed: nobody will read it
	}
	idle, fits := len(b.records) == 0, true
	for _, record := range records {
		if fits = int(b.size.Load())+len(record) <= b.maxSize; !fits {
			break
		}
		b.records = append(b.records, b.copy(record))
		b.size.Add(int64(len(record)))
	}
	if idle && len(b.records) > 0 {
		select {
		case b.ready <- struct{}{}:
		default:
		}
	}
	return fits
}

// copy takes memory for many short records at once. b.mu must be held.
func (b *inbox) copy(record []byte) []byte {
	const blockSize, short = 8 << 10, 1 << 10
	if len(record) > short {
		return bytes.Clone(record)
	}
	if cap(b.block)-len(b.block) < len(record) {
		b.block = make([]byte, 0, blockSize)
	}
	at := len(b.block)
	b.block = append(b.block, record...)
	return b.block[at:len(b.block):len(b.block)]
}

// take waits for the next record, whose memory is the caller's. Records that came
// before a close are still returned. One goroutine at a time may call it.
func (b *inbox) take(ctx context.Context) ([]byte, error) {
	for b.next == len(b.taken) {
		if b.refill() {
			break
		}
		select {
		case _, open := <-b.ready:
			if !open && !b.refill() {
				return nil, b.failure()
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	record := b.taken[b.next]
	b.taken[b.next] = nil
	b.next++
	b.size.Add(-int64(len(record)))
	return record, nil
}

// refill takes over all that waits; false when nothing does.
func (b *inbox) refill() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken, b.records, b.next = b.records, b.taken[:0], 0
	return len(b.taken) > 0
}

// close ends the inbox; false when it had ended already.
func (b *inbox) close(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return false
	}
	b.err = err
	close(b.done)
	close(b.ready)
	return true
}

// ended tells whether it was closed.
func (b *inbox) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// failure tells why the inbox ended; nil while it is open.
func (b *inbox) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
