package sessions

import (
	"context"
	"sync/atomic"
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

// do runs fn in the session's goroutine, with the log open, and waits for it. If ctx ends before
// fn begins, fn never runs, and the error is that of ctx; the log is opened all the same.
func (o *owner) do(ctx context.Context, fn func()) error { return o.run(ctx, o.open, fn) }

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

// ask is do, and the log may be closed.
func (o *owner) ask(ctx context.Context, fn func()) error {
	return o.run(ctx, func(context.Context) error { return nil }, fn)
}

// run runs fn in the session's goroutine, unless prepare fails there, and waits for it as long as
// ctx lasts. What has begun is waited for to its end: its caller uses what it has found.
func (o *owner) run(ctx context.Context, prepare func(context.Context) error, fn func()) error {
	var decided atomic.Bool // fn runs, or its caller has left
	ended := make(chan error, 1)
	err := o.post(ctx, func() {
		if decided.Load() {
			return
		}
		err := prepare(ctx)
		if err == nil && decided.CompareAndSwap(false, true) {
			fn()
		}
		ended <- err
	})
	if err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-o.stopped:
	case <-ctx.Done():
		if decided.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
	}
	return o.wait(ended)
}

// wait waits for the answer of what the session's goroutine runs.
func (o *owner) wait(ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-o.stopped:
	}
	select {
	case err := <-ended: // the session ended after it, as one that is deleted does
		return err
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
