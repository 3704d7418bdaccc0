package dispatch

import (
	"context"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Outbox sends the messages of the host to one connection. Answer and Event do not block
// and may be called from any goroutine; only the dispatcher calls Run and Close.
type Outbox interface {
	Answer(message []byte)
	Event(envelope api.EventEnvelope, message []byte)
	// Run sends until ctx ends or sending fails, and returns why.
	Run(ctx context.Context) error
	// Close ends a send that hangs.
	Close(why error)
}

// Outgoing is a message that waits in a Queue.
type Outgoing struct {
	Message []byte
	Event   *api.EventEnvelope // nil for an answer

	end error // not nil ends the connection in place of a message
}

// maxOutgoing bounds what waits for one connection, in bytes. A connection that
// lets more wait is closed; the client reconnects and catches up from the log.
const maxOutgoing = 8 << 20

// Queue is an Outbox whose messages wait for a writer.
type Queue struct {
	write    func(ctx context.Context, out Outgoing) error
	onClose  func(why error)
	overflow func()        // called when more than maxOutgoing waits
	ready    chan struct{} // holds one token while there may be something to send

	mu      sync.Mutex
	waiting []Outgoing
	size    int // bytes
}

// NewQueue makes an empty queue. write sends one message; overflow is called when more
// waits than a connection may have.
func NewQueue(write func(context.Context, Outgoing) error, onClose func(error), overflow func()) *Queue {
	return &Queue{write: write, onClose: onClose, overflow: overflow, ready: make(chan struct{}, 1)}
}

// Answer implements Outbox.
func (q *Queue) Answer(message []byte) { q.push(Outgoing{Message: message}) }

// Event implements Outbox.
func (q *Queue) Event(envelope api.EventEnvelope, message []byte) {
	q.push(Outgoing{Message: message, Event: &envelope})
}

// Close implements Outbox.
func (q *Queue) Close(why error) { q.onClose(why) }

// Finish ends the connection once everything before was sent.
func (q *Queue) Finish(why error) { q.push(Outgoing{end: why}) }

func (q *Queue) push(out Outgoing) {
	q.mu.Lock()
	full := len(q.waiting) > 0 && q.size+len(out.Message) > maxOutgoing
	if !full {
		q.waiting = append(q.waiting, out)
		q.size += len(out.Message)
	}
	q.mu.Unlock()
	if full {
		q.overflow()
		return
	}
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Run implements Outbox.
func (q *Queue) Run(ctx context.Context) error {
	for {
		out, ok := q.next()
		if !ok {
			select {
			case <-q.ready:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if out.end != nil {
			return out.end
		}
		if err := q.write(ctx, out); err != nil {
			return err
		}
	}
}

func (q *Queue) next() (Outgoing, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return Outgoing{}, false
	}
	out := q.waiting[0]
	q.waiting[0] = Outgoing{}
	q.waiting = q.waiting[1:]
	q.size -= len(out.Message)
	return out, true
}
