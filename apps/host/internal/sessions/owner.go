package sessions

import (
	"context"
	"errors"
)

// owner runs functions in the one goroutine that owns the state of a session.
type owner struct {
	commands chan func()
	stopped  chan struct{} // closed when the goroutine has ended
	// open opens the log if it is closed. It is called in the goroutine.
	open func(ctx context.Context) error
}

// commandBuffer lets a model's deltas queue up while a line is synced to disk.
const commandBuffer = 256

func newOwner() owner {
	return owner{commands: make(chan func(), commandBuffer), stopped: make(chan struct{})}
}

// do runs fn in the session's goroutine, with the log open, and waits for it.
func (o *owner) do(ctx context.Context, fn func()) error {
	var openErr error
	err := o.ask(ctx, func() {
		if openErr = o.open(ctx); openErr == nil {
			fn()
		}
	})
	return errors.Join(err, openErr)
}

// inside runs fn in the session's goroutine, with the log open, and returns its answer. The
// error is one for a client.
func inside[T any](ctx context.Context, o *owner, fn func() (T, error)) (answer T, err error) {
	if doErr := o.do(ctx, func() { answer, err = fn() }); doErr != nil {
		return answer, clientError(doErr)
	}
	return answer, clientError(err)
}

// change is inside for functions without an answer.
func (o *owner) change(ctx context.Context, fn func() error) error {
	_, err := inside(ctx, o, func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

// ask runs fn in the session's goroutine and waits for it. The log may be closed.
func (o *owner) ask(ctx context.Context, fn func()) error {
	ran := make(chan struct{})
	if err := o.post(ctx, func() { fn(); close(ran) }); err != nil {
		return err
	}
	return o.wait(ran)
}

// wait waits until ran is closed, which the session's goroutine does.
func (o *owner) wait(ran <-chan struct{}) error {
	select {
	case <-ran:
		return nil
	case <-o.stopped:
	}
	select {
	case <-ran: // the session ended after it, as one that is deleted does
		return nil
	default:
		return ErrClosed
	}
}

// post queues fn for the session's goroutine.
func (o *owner) post(ctx context.Context, fn func()) error {
	select {
	case o.commands <- fn:
		return nil
	case <-o.stopped:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver queues fn for the session's goroutine, from a goroutine that it waits for before it
// ends, such as that of a turn. So fn always runs.
func (o *owner) deliver(fn func()) { o.commands <- fn }
