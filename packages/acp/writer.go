package acp

import (
	"context"
	"io"
	"sync"
)

// writer writes lines in a goroutine of its own, so that no caller waits for the other side to
// read, except for room in the queue.
type writer struct {
	mu      sync.Mutex
	lines   [][]byte
	bytes   int           // in lines, and in the one that is being written
	room    chan struct{} // closed and replaced when there is room again
	work    chan struct{} // has one element while there may be lines
	stopped chan struct{}
	stop    func()
	done    chan struct{}
}

// newWriter starts a writer; failed is called once, by its goroutine, when w fails.
func newWriter(w io.Writer, failed func(error)) *writer {
	o := &writer{room: make(chan struct{}), work: make(chan struct{}, 1), stopped: make(chan struct{}), done: make(chan struct{})}
	o.stop = sync.OnceFunc(func() { close(o.stopped) })
	go o.run(w, failed)
	return o
}

func (o *writer) run(w io.Writer, failed func(error)) {
	defer close(o.done)
	for {
		line := o.next()
		if line == nil {
			select {
			case <-o.work:
				continue
			case <-o.stopped:
				return
			}
		}
		if _, err := w.Write(line); err != nil {
			failed(err)
			return
		}
		o.written(len(line))
	}
}

func (o *writer) next() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) == 0 {
		return nil
	}
	line := o.lines[0]
	o.lines[0] = nil
	o.lines = o.lines[1:]
	return line
}

func (o *writer) written(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= n
	close(o.room)
	o.room = make(chan struct{})
}

// write queues a line. It waits for room until ctx ends.
func (o *writer) write(ctx context.Context, line []byte) error {
	for {
		select {
		case <-o.stopped:
			return ErrClosed
		default:
		}
		room, ok := o.add(line, MaxQueued)
		if ok {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-o.stopped:
			return ErrClosed
		}
	}
}

// offer queues a line if there is room.
func (o *writer) offer(line []byte) { o.add(line, MaxQueued) }

// force queues a line that is not worth waiting for; false if the other side reads nothing.
func (o *writer) force(line []byte) bool {
	_, ok := o.add(line, MaxUnread)
	return ok
}

// flush waits until all lines are written, or ctx or the writer ends.
func (o *writer) flush(ctx context.Context) error {
	for {
		o.mu.Lock()
		left, room := o.bytes, o.room
		o.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-o.done:
			return ErrClosed
		}
	}
}

// add queues a line unless more than limit bytes would wait; room is closed when that may have
// changed.
func (o *writer) add(line []byte, limit int) (room <-chan struct{}, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes > 0 && o.bytes+len(line) > limit {
		return o.room, false
	}
	o.bytes += len(line)
	o.lines = append(o.lines, line)
	select {
	case o.work <- struct{}{}:
	default:
	}
	return nil, true
}

// wait waits for the goroutine, which ends after stop or a failure.
func (o *writer) wait() { <-o.done }
