package relayconn

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// ErrClosed is returned if the connection has ended.
var ErrClosed = errors.New("the connection to the relay has ended")

// errFull says that a message that does not wait found no room.
var errFull = errors.New("the queue of the connection is full")

const (
	// maxQueued limits the queue in bytes. Senders wait while it is full.
	maxQueued = 4 << 20
	// maxClosing is how much more room there is for the ends of channels: enough for all channels
	// of a connection.
	maxClosing = 256 << 10
)

const (
	// maxSpare is the largest buffer in bytes that is kept for a later message, and
	// the size up to which records are joined.
	maxSpare = 128 << 10
	// maxSpares is how many buffers are kept: one is filled while the other is
	// being sent.
	maxSpares = 2
)

// segment is one WebSocket message. Its data begins with frameRoom bytes for the frame.
type segment struct {
	text bool
	data []byte
}

// message returns the data without that room.
func (s segment) message() []byte { return s.data[frameRoom:] }

// queue keeps messages in order and joins adjacent records.
type queue struct {
	ready chan struct{} // holds one token while there may be messages; closed by close
	done  chan struct{} // closed by close

	maxMessage int // maximum size of joined records in bytes; set before the first use

	mu       sync.Mutex
	segments []segment
	size     int
	room     chan struct{} // closed and replaced when a message was taken and senders wait
	waiting  int           // senders waiting for room
	spares   [][]byte      // buffers of sent messages, for reuse
	closed   bool
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), done: make(chan struct{}), room: make(chan struct{}), maxMessage: maxSpare}
}

func (q *queue) putText(ctx context.Context, data []byte) error {
	return q.put(ctx, len(data), func() error {
		q.addText(data)
		return nil
	})
}

// putNow is putText for the end of a channel, which does not wait. The error is errFull if too many
// of them are queued already.
func (q *queue) putNow(data []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case q.size > 0 && q.size+len(data) > maxQueued+maxClosing:
		return errFull
	}
	idle := len(q.segments) == 0
	q.addText(data)
	q.size += len(data)
	if idle {
		q.wake()
	}
	return nil
}

// addText adds a message. q.mu must be held.
func (q *queue) addText(data []byte) {
	q.segments = append(q.segments, segment{text: true, data: append(make([]byte, frameRoom, frameRoom+len(data)), data...)})
}

func (q *queue) putRecords(ctx context.Context, channel uint32, payloads [][]byte) error {
	n := 0
	for _, p := range payloads {
		n += wire.RecordHeaderLen + len(p)
	}
	return q.put(ctx, n, func() error {
		for _, p := range payloads {
			s := q.segmentFor(len(p))
			s.data = wire.AppendRecord(s.data, channel, p)
		}
		return nil
	})
}

// appendRecord queues a record whose payload of n bytes write appends.
func (q *queue) appendRecord(ctx context.Context, channel uint32, n int, write func([]byte) ([]byte, error)) error {
	return q.put(ctx, wire.RecordHeaderLen+n, func() error {
		s := q.segmentFor(n)
		start := len(s.data)
		data, err := write(wire.AppendRecordHeader(s.data, channel, n))
		if err == nil && len(data) != start+wire.RecordHeaderLen+n {
			err = fmt.Errorf("a record has a payload of %d bytes, but %d were announced", len(data)-start-wire.RecordHeaderLen, n)
		}
		if err != nil {
			q.dropEmptyTail()
			return err
		}
		s.data = data
		return nil
	})
}

// segmentFor returns the message to which a record with a payload of n bytes is
// added. q.mu must be held.
func (q *queue) segmentFor(n int) *segment {
	if last := len(q.segments) - 1; last >= 0 {
		s := &q.segments[last]
		if !s.text && len(s.message())+wire.RecordHeaderLen+n <= q.maxMessage {
			return s
		}
	}
	var data []byte
	if last := len(q.spares) - 1; last >= 0 {
		data, q.spares = q.spares[last], q.spares[:last]
	}
	q.segments = append(q.segments, segment{data: append(data, make([]byte, frameRoom)...)})
	return &q.segments[len(q.segments)-1]
}

// dropEmptyTail removes a message without records. q.mu must be held.
func (q *queue) dropEmptyTail() {
	if last := len(q.segments) - 1; len(q.segments[last].message()) == 0 {
		q.segments = q.segments[:last]
	}
}

// recycle keeps the buffer of a sent message of records.
func (q *queue) recycle(s segment) {
	if s.text || cap(s.data) > maxSpare {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.spares) < maxSpares {
		q.spares = append(q.spares, s.data[:0])
	}
}

// put calls add with the lock held once n bytes fit; an empty queue accepts any n.
// If it fails, nothing was added.
func (q *queue) put(ctx context.Context, n int, add func() error) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return ErrClosed
		}
		if q.size == 0 || q.size+n <= maxQueued {
			idle := len(q.segments) == 0 // otherwise the writer is already awake
			err := add()
			if err == nil {
				q.size += n
			}
			if idle {
				q.wake()
			}
			q.mu.Unlock()
			return err
		}
		room := q.room
		q.waiting++
		q.mu.Unlock()
		select {
		case <-room: // the goroutine that closed it has updated q.waiting
		case <-q.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wake wakes the writer. q.mu must be held and the queue be open.
func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take waits for the next message, or for close.
func (q *queue) take() (segment, error) {
	for {
		if s, ok := q.pop(); ok {
			return s, nil
		}
		if _, open := <-q.ready; !open {
			return segment{}, ErrClosed
		}
	}
}

func (q *queue) pop() (segment, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.segments) == 0 {
		return segment{}, false
	}
	s := q.segments[0]
	q.segments[0] = segment{}
	if len(q.segments) == 1 {
		q.segments, q.size = q.segments[:0], 0
	} else {
		q.segments = q.segments[1:]
		q.size -= len(s.message())
	}
	if q.waiting > 0 {
		q.waiting = 0
		close(q.room)
		q.room = make(chan struct{})
	}
	return s, true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.done)
		close(q.ready)
	}
}
