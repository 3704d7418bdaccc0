package terminal

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// attach makes the connection a viewer from an offset, in place of an earlier attachment.
// reply is called before any output is sent.
func (t *terminal) attach(c *dispatch.Conn, offset int64, reply func(api.AttachTerminalResponse)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if offset > t.output.end {
		return api.Errorf(api.KindBadRequest, "offset %d is beyond the output of this terminal, which ends at %d", offset, t.output.end)
	}
	from := max(offset, t.output.from())
	v := &viewer{sent: from, acked: from, seen: time.Now()}
	t.viewers[c] = v
	reply(api.AttachTerminalResponse{Terminal: t.describe(), Offset: from, Missed: from - offset})
	t.pump(c, v)
	signal(t.wake)
	return nil
}

func (t *terminal) detach(c *dispatch.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.viewers, c)
	signal(t.wake)
}

// dropViewers ends the attachments to a terminal that is gone, once they were told.
func (t *terminal) dropViewers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.viewers)
}

func (t *terminal) ack(c *dispatch.Conn, offset int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.viewers[c]
	switch {
	case !ok:
		return api.Errorf(api.KindConflict, "this connection is not attached to the terminal: attach it first")
	case offset > v.sent:
		return api.Errorf(api.KindBadRequest, "offset %d has not been sent yet: output was sent up to %d", offset, v.sent)
	case offset <= v.acked:
		return nil // of an earlier attachment
	}
	v.acked, v.seen = offset, time.Now()
	t.pump(c, v)
	signal(t.wake)
	return nil
}

// write queues input for the program in the terminal.
func (t *terminal) write(encoded string) error {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(data) == 0 || len(data) > api.MaxTerminalInput {
		return api.Errorf(api.KindBadRequest, "data must be base64 of 1 to %d bytes", api.MaxTerminalInput)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.end != nil || t.reason != "":
		return api.Errorf(api.KindConflict, "the shell in this terminal has ended: open another one")
	case len(t.input)+len(data) > maxWaiting:
		return api.Errorf(api.KindTooLarge, "the program in this terminal is not reading its input: %d bytes are already waiting", len(t.input))
	}
	t.input = append(t.input, data...)
	signal(t.typed)
	return nil
}

// resize sets the size and tells the other viewers.
func (t *terminal) resize(cols, rows int) (api.Terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil || t.reason != "" || t.cols == cols && t.rows == rows {
		return t.describe(), nil
	}
	if err := setSize(t.master, cols, rows); err != nil {
		return api.Terminal{}, api.Errorf(api.KindUnavailable, "the size of the terminal cannot be set: %v", err)
	}
	t.cols, t.rows = cols, rows
	for c := range t.viewers {
		t.deliver(c, api.TerminalChanged{Terminal: t.describe()})
	}
	return t.describe(), nil
}

// attachTo subscribes the connection until it ends.
func attachTo(t *terminal, c *dispatch.Conn, offset int64, reply func(api.AttachTerminalResponse)) error {
	if c.Out() == nil {
		return api.Errorf(api.KindBadRequest, "a terminal needs a connection that receives events: use a WebSocket instead of an HTTP request")
	}
	if err := t.attach(c, offset, reply); err != nil {
		return err
	}
	c.Subscribed(subscription(t.id), func(context.Context) { t.detach(c) })
	return nil
}

// subscription is the name of an attachment among the subscriptions of a connection.
func subscription(id string) string { return "terminal " + id }
