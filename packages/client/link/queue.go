package link

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// ErrClosed says that the connection has ended.
var ErrClosed = errors.New("the connection to the relay has ended")

// maxQueued bounds what waits to be sent, in bytes. A sender waits beyond it.
const maxQueued = 4 << 20

// maxSpare is the largest buffer in bytes that is kept for the next message.
const maxSpare = 128 << 10

// segment is one WebSocket message.
type segment struct {
	text bool
	data []byte
}

// queue keeps messages in order and joins neighbouring records.
type queue struct {
	ready chan struct{} // holds one token while there may be something to take; closed in the end
	done  chan struct{} // closed in the end

	maxMessage int // bytes of a binary message; set before the first use

	mu       sync.Mutex
	segments []segment
	size     int
	room     chan struct{} // closed and replaced when something was taken and somebody waits
	waiting  int           // who waits for room
	spare    []byte        // the buffer of a message that was sent, for the next one
	closed   bool
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), done: make(chan struct{}), room: make(chan struct{}), maxMessage: wire.MaxMessage}
}

func (q *queue) putText(ctx context.Context, data []byte) error {
	return q.put(ctx, len(data), func() error {
		q.segments = append(q.segments, segment{text: true, data: data})
		return nil
	})
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
			err = fmt.Errorf("the payload of a record has %d bytes, %d were announced", len(data)-start-wire.RecordHeaderLen, n)
		}
		if err != nil {
			q.dropEmptyTail()
			return err
		}
		s.data = data
		return nil
	})
}

// segmentFor returns the message that a record with a payload of n bytes goes into.
// q.mu must be held.
func (q *queue) segmentFor(n int) *segment {
	if last := len(q.segments) - 1; last >= 0 {
		s := &q.segments[last]
		if !s.text && len(s.data)+wire.RecordHeaderLen+n <= q.maxMessage {
			return s
		}
	}
	q.segments = append(q.segments, segment{data: q.spare})
	q.spare = nil
	return &q.segments[len(q.segments)-1]
}

// dropEmptyTail takes back a message that got no record. q.mu must be held.
func (q *queue) dropEmptyTail() {
	if last := len(q.segments) - 1; len(q.segments[last].data) == 0 {
		q.segments = q.segments[:last]
	}
}

// recycle takes the buffer of a message of records that was sent.
func (q *queue) recycle(s segment) {
	if s.text || cap(s.data) > maxSpare {
		return
	}
	q.mu.Lock()
	q.spare = s.data[:0]
	q.mu.Unlock()
}

// put runs add with the lock held once n bytes fit; an empty queue takes any n. What
// fails has added nothing.
func (q *queue) put(ctx context.Context, n int, add func() error) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return ErrClosed
		}
		if q.size == 0 || q.size+n <= maxQueued {
			idle := len(q.segments) == 0 // else the writer knows
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
		case <-room: // whoever closed it has counted the waiting
		case <-q.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wake tells the taker. q.mu must be held and the queue be open.
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
		q.size -= len(s.data)
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
