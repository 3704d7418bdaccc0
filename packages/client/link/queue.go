package link

import (
	"context"
	"errors"
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
	ready chan struct{} // holds one token while there may be something to take
	done  chan struct{}

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
	return q.put(ctx, len(data), func() {
		q.segments = append(q.segments, segment{text: true, data: data})
	})
}

func (q *queue) putRecords(ctx context.Context, channel uint32, payloads [][]byte) error {
	n := 0
	for _, p := range payloads {
		n += wire.RecordHeaderLen + len(p)
	}
	return q.put(ctx, n, func() {
		for _, p := range payloads {
			q.appendRecordLocked(channel, p)
		}
	})
}

func (q *queue) appendRecordLocked(channel uint32, payload []byte) {
	if last := len(q.segments) - 1; last >= 0 {
		s := &q.segments[last]
		if !s.text && len(s.data)+wire.RecordHeaderLen+len(payload) <= q.maxMessage {
			s.data = wire.AppendRecord(s.data, channel, payload)
			return
		}
	}
	q.segments = append(q.segments, segment{data: wire.AppendRecord(q.spare, channel, payload)})
	q.spare = nil
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

// put runs add with the lock held once n bytes fit; an empty queue takes any n.
func (q *queue) put(ctx context.Context, n int, add func()) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return ErrClosed
		}
		if q.size == 0 || q.size+n <= maxQueued {
			add()
			q.size += n
			q.mu.Unlock()
			q.wake()
			return nil
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

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take waits for the next message.
func (q *queue) take(ctx context.Context) (segment, error) {
	for {
		if s, ok := q.pop(); ok {
			return s, nil
		}
		select {
		case <-q.ready:
		case <-q.done:
			return segment{}, ErrClosed
		case <-ctx.Done():
			return segment{}, context.Cause(ctx)
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
	}
}
