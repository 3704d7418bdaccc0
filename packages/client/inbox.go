package client

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// blockSize is the size in bytes of the memory blocks that records are copied into.
// The largest record fits.
const blockSize = wire.MaxRecordPayload + 1

// blocks keeps memory between bursts: an active channel needs it for every record,
// an idle one needs none.
var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }}

// inbox is a queue of records, limited in bytes, whose writer never blocks. Its
// reader takes all waiting records at once, so that records that arrived together
// cost one wake-up and two locks.
type inbox struct {
	ready chan struct{} // holds one token while there may be records; closed by close
	done  chan struct{} // closed by close

	maxSize int          // bytes
	size    atomic.Int64 // bytes put but not yet taken

	// Owned by the reader.
	taken batch
	next  int // index of the next record in taken

	mu      sync.Mutex
	waiting batch
	err     error // why the inbox was closed
}

// batch is a list of records and the memory that holds them.
type batch struct {
	records [][]byte
	blocks  []*[blockSize]byte
	used    int // bytes used of the last block
}

// add copies a record.
func (b *batch) add(record []byte) {
	if len(b.blocks) == 0 || blockSize-b.used < len(record) {
		b.blocks, b.used = append(b.blocks, blocks.Get().(*[blockSize]byte)), 0
	}
	block := b.blocks[len(b.blocks)-1]
	end := b.used + copy(block[b.used:], record)
	b.records, b.used = append(b.records, block[b.used:end:end]), end
}

// reset frees the memory of all records.
func (b *batch) reset() {
	for _, block := range b.blocks {
		blocks.Put(block)
	}
	clear(b.records)
	clear(b.blocks)
	b.records, b.blocks, b.used = b.records[:0], b.blocks[:0], 0
}

func newInbox(maxSize int) *inbox {
	return &inbox{ready: make(chan struct{}, 1), done: make(chan struct{}), maxSize: maxSize}
}

// put copies records into the inbox; it returns false if one does not fit, and then
// adds none of those after it.
func (b *inbox) put(records ...[]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return true // closed: the records are discarded
	}
	idle, fits := len(b.waiting.records) == 0, true
	for _, record := range records {
		if fits = int(b.size.Load())+len(record) <= b.maxSize; !fits {
			break
		}
		b.waiting.add(record)
		b.size.Add(int64(len(record)))
	}
	if idle && len(b.waiting.records) > 0 {
		select {
		case b.ready <- struct{}{}:
		default:
		}
	}
	return fits
}

// take waits for the next record, which the caller may modify and use until the
// next call. Records that arrived before close are still returned. One goroutine at
// a time may call it.
func (b *inbox) take(ctx context.Context) ([]byte, error) {
	for b.next == len(b.taken.records) {
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
	record := b.taken.records[b.next]
	b.next++
	b.size.Add(-int64(len(record)))
	return record, nil
}

// refill takes all waiting records; it returns false if there are none.
func (b *inbox) refill() bool {
	b.taken.reset()
	b.next = 0
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken, b.waiting = b.waiting, b.taken
	return len(b.taken.records) > 0
}

// close closes the inbox; it returns false if it was closed already.
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

// ended reports whether the inbox was closed.
func (b *inbox) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// failure returns why the inbox was closed; nil while it is open.
func (b *inbox) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
