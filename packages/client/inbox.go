package client

import (
	"bytes"
	"context"
	"sync"
)

// inbox is a queue of records, bounded in bytes, whose writer never blocks.
type inbox struct {
	ready chan struct{} // holds one token while there may be something to take
	done  chan struct{}

	maxSize int // bytes

	mu      sync.Mutex
	records [][]byte
	block   []byte // short records are copied into one block after another
	size    int
	err     error // why it ended
}

func newInbox(maxSize int) *inbox {
	return &inbox{ready: make(chan struct{}, 1), done: make(chan struct{}), maxSize: maxSize}
}

// put copies the record in; false when it does not fit.
func (b *inbox) put(record []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return true // closed: nobody will read it
	}
	if b.size+len(record) > b.maxSize {
		return false
	}
	b.records = append(b.records, b.copy(record))
	b.size += len(record)
	select {
	case b.ready <- struct{}{}:
	default:
	}
	return true
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

// take waits for the next record. Records that came before a close are still
// returned.
func (b *inbox) take(ctx context.Context) ([]byte, error) {
	for {
		if record, ok := b.pop(); ok {
			return record, nil
		}
		select {
		case <-b.ready:
		case <-b.done:
			if record, ok := b.pop(); ok {
				return record, nil
			}
			return nil, b.failure()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (b *inbox) pop() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.records) == 0 {
		return nil, false
	}
	record := b.records[0]
	b.records[0] = nil
	if len(b.records) == 1 {
		b.records = b.records[:0]
	} else {
		b.records = b.records[1:]
	}
	b.size -= len(record)
	return record, true
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
	return true
}

// failure tells why the inbox ended; nil while it is open.
func (b *inbox) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
