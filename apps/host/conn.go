package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// localID is who a direct connection on this machine is, where a client id would
// stand.
const localID = "host"

// maxOutgoing bounds what waits for one connection, in bytes. A connection that
// lets more wait is closed; the entry comes back and catches up from the log.
const maxOutgoing = 8 << 20

// errSlow says that a connection let too much wait.
var errSlow = errors.New("the connection is too slow: it will catch up when it comes back")

// conn is one entry's connection, over a relay or direct. Its reader runs the
// requests in order; a writer, which the reader joins, sends what waits.
type conn struct {
	// Static after construction.
	host      *Host
	transport client.Transport
	clientID  string // a client id, localID, or the id of a token
	grants    []api.Grant
	cancel    context.CancelCauseFunc
	ready     chan struct{} // holds one token while there may be something to send

	// Owned by the reader.
	subscribed map[string]*sessions.Session

	mu       sync.Mutex
	outgoing [][]byte
	size     int

	watching bool // somebody sees the list of sessions; guarded by the hub's mu
}

func (h *Host) newConn(transport client.Transport, clientID string, grants []api.Grant, cancel context.CancelCauseFunc) *conn {
	return &conn{
		host: h, transport: transport, clientID: clientID, grants: grants, cancel: cancel,
		ready: make(chan struct{}, 1), subscribed: map[string]*sessions.Session{},
	}
}

// serveConn runs a connection until it or ctx ends, and returns why.
func (h *Host) serveConn(ctx context.Context, transport client.Transport, clientID string, grants []api.Grant) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c := h.newConn(transport, clientID, grants, cancel)
	h.hub.add(c)
	ctx, expire := h.untilToken(ctx, clientID)
	defer expire()
	var wg sync.WaitGroup
	wg.Go(func() { cancel(c.writeLoop(ctx)) })
	err := c.readLoop(ctx, &wg)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	if h.hub.remove(c) {
		h.sessions.Attend()
	}
	c.leave(ctx)
	closeFor(transport, err)
	wg.Wait()
	return err
}

// leave ends the subscriptions.
func (c *conn) leave(ctx context.Context) {
	for _, s := range c.subscribed {
		s.Unsubscribe(context.WithoutCancel(ctx), c)
	}
}

// closeFor closes a transport and, where it can carry it, tells the other end why.
func closeFor(transport client.Transport, err error) {
	if sealed, ok := transport.(*client.Sealed); ok {
		switch {
		case errors.Is(err, errSlow):
			sealed.CloseWith(wire.ReasonSlowConsumer)
		case errors.Is(err, errRevoked):
			sealed.CloseWith(wire.ReasonNotAuthorized)
		}
	}
	_ = transport.Close()
}

func (c *conn) readLoop(ctx context.Context, wg *sync.WaitGroup) error {
	for {
		message, err := c.transport.Receive(ctx)
		if err != nil {
			return err
		}
		request, answer := c.parse(message)
		if answer != nil {
			c.send(answer)
			continue
		}
		if request.waits {
			wg.Go(func() { c.handle(ctx, request) })
			continue
		}
		c.handle(ctx, request)
	}
}

func (c *conn) writeLoop(ctx context.Context) error {
	for {
		message, ok := c.next()
		if !ok {
			select {
			case <-c.ready:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := c.transport.Send(ctx, message); err != nil {
			return fmt.Errorf("sending to an entry: %w", err)
		}
	}
}

func (c *conn) next() ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.outgoing) == 0 {
		return nil, false
	}
	message := c.outgoing[0]
	c.outgoing[0] = nil
	c.outgoing = c.outgoing[1:]
	c.size -= len(message)
	return message, true
}

// send queues a message. It never blocks.
func (c *conn) send(message []byte) {
	c.mu.Lock()
	full := len(c.outgoing) > 0 && c.size+len(message) > maxOutgoing
	if !full {
		c.outgoing = append(c.outgoing, message)
		c.size += len(message)
	}
	c.mu.Unlock()
	if full {
		c.cancel(errSlow)
		return
	}
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// Deliver implements sessions.Subscriber.
func (c *conn) Deliver(_ api.EventEnvelope, encoded []byte) { c.send(encoded) }

func (c *conn) may(grant api.Grant) bool { return slices.Contains(c.grants, grant) }
