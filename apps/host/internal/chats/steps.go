package chats

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// maxSteps bounds what waits for the goroutine of a chat. With more, its connection is made
// again and catches up from the log.
const maxSteps = 4096

var errNoConnection = errors.New("the chat has no connection to the host")

// step is what the goroutine of a chat does next: it handles an event, or runs do and returns
// how that ended. One with neither has it follow the sessions of the chat as they are now.
type step struct {
	event *api.EventEnvelope
	do    func(context.Context, *client.Client) error
	done  chan<- error // has room
}

// push hands a step to the goroutine; false if too many wait.
func (t *talk) push(s step) bool {
	t.mu.Lock()
	full := len(t.steps) >= maxSteps
	if !full {
		t.steps = append(t.steps, s)
	}
	end := t.end
	t.mu.Unlock()
	if full && end != nil {
		end()
	}
	wake(t.more)
	return !full
}

// next takes the first step; false if none waits.
func (t *talk) next() (s step, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) == 0 {
		return s, false
	}
	s, t.steps[0] = t.steps[0], step{}
	t.steps = t.steps[1:]
	return s, true
}

// inOrder has the goroutine of the chat run do, and returns how that ended. That goroutine alone
// sends what sessions say, so what do sends is in order with it.
func (t *talk) inOrder(ctx context.Context, do func(context.Context, *client.Client) error) error {
	done := make(chan error, 1)
	if !t.push(step{do: do, done: done}) {
		return errNoConnection
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// catchUp does the steps that wait now. After a request of the same goroutine, these are all that
// happened before the host answered it: events come over the same connection.
func (t *talk) catchUp(ctx context.Context, c *client.Client) error {
	t.mu.Lock()
	waiting := len(t.steps)
	t.mu.Unlock()
	for range waiting {
		s, ok := t.next()
		if !ok {
			break
		}
		if err := t.handle(ctx, c, s); err != nil {
			return err
		}
	}
	return nil
}

// refuse ends the steps that wait, because the connection has ended.
func (t *talk) refuse() {
	for s, ok := t.next(); ok; s, ok = t.next() {
		if s.done != nil {
			s.done <- errNoConnection
		}
	}
}

// handle does a step. An error ends the connection.
func (t *talk) handle(ctx context.Context, c *client.Client, s step) error {
	switch {
	case s.event != nil:
		return t.event(*s.event)
	case s.do == nil:
		return t.followAll(ctx, c)
	}
	err := s.do(ctx, c)
	s.done <- err
	var refused *api.Error
	if errors.As(err, &refused) {
		return nil // the host answers
	}
	return err
}
