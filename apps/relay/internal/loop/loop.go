// Package loop runs functions one at a time in a goroutine that owns their state, so that
// the state needs no lock. A relay has one Loop for its routing state: who is connected,
// what peers are bound to, which pairings and channels are being set up.
package loop

import (
	"context"
	"errors"
	"sync"
)

// ErrStopped is returned when the loop has stopped.
var ErrStopped = errors.New("relay: the routing state has stopped")

// Loop is a goroutine that runs functions. Such a function must not block and must not
// call Do: it changes maps and puts frames in queues.
type Loop struct {
	calls chan call
	quit  chan struct{}
	once  sync.Once
	ended chan struct{}
}

type call struct {
	f    func()
	done chan struct{}
}

// Start returns a running loop. The caller ends it with Stop.
func Start() *Loop {
	l := &Loop{calls: make(chan call), quit: make(chan struct{}), ended: make(chan struct{})}
	go l.run()
	return l
}

func (l *Loop) run() {
	defer close(l.ended)
	for {
		select {
		case c := <-l.calls:
			c.f()
			close(c.done)
		case <-l.quit:
			return
		}
	}
}

// Stop ends the goroutine and waits for it. Calling it again is harmless.
func (l *Loop) Stop() {
	l.once.Do(func() { close(l.quit) })
	<-l.ended
}

// Do runs f in the loop and returns when it has run, or ErrStopped if it will not run.
func (l *Loop) Do(f func()) error { return l.DoContext(context.Background(), f) }

// DoContext is Do that stops waiting when ctx ends; f may still run then.
func (l *Loop) DoContext(ctx context.Context, f func()) error {
	c := call{f: f, done: make(chan struct{})}
	select {
	case l.calls <- c:
	case <-l.quit:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
