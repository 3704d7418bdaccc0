package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Why connections end.
var (
	// ErrSlow ends a connection that let too much wait.
	ErrSlow = errors.New("the connection is too slow: it catches up when it reconnects")
	// ErrClientLeft ends the connection over which a client ended its own access.
	ErrClientLeft = errors.New("this client has ended its access")
	// ErrClientRemoved ends the connections of a client whose access was revoked.
	ErrClientRemoved = errors.New("this client was removed on the device")
	// ErrAccessExpired ends the connections of a client whose access expired.
	ErrAccessExpired = errors.New("the access of this client has expired: ask for more time on the device, or pair again")
	// ErrLimitsChanged ends the connections of a client that sees other projects now. It
	// reconnects and loads what it sees.
	ErrLimitsChanged = errors.New("the limits of this client changed")
	// ErrTokenRevoked ends the connections of a token that was revoked.
	ErrTokenRevoked = errors.New("this token was revoked")
	// ErrTokenExpired ends the connections of a token that expired.
	ErrTokenExpired = errors.New("this token expired")
)

// Options are the parts that a Dispatcher works with. A field is required unless its comment says
// what nil means.
type Options struct {
	Logger    *slog.Logger
	Hub       *Hub
	Tokens    *state.Tokens
	Endpoints []Endpoint
	// Unwatched is called after a connection ended that watched the list of sessions; nil does
	// nothing.
	Unwatched func()
	// Begun is called after a connection was added to the hub, before its first request, and
	// Ended after it was removed. Either may be nil.
	Begun, Ended func(clientID string)
	// ProjectOf returns the project of a session; with nil, limited connections see no session.
	ProjectOf func(sessionID string) (projectID string, exists bool)
	// Unknown returns the error for a session that a limited connection does not see, which is
	// the same for one that does not exist; nil is state.UnknownSession.
	Unknown func(sessionID string) *api.Error
	// Moves refuses requests about sessions that move to another host; nil refuses none.
	Moves Moves
}

// Moves knows the sessions that move to another host. Its methods may be called from any
// goroutine and do not block.
type Moves interface {
	// Any reports whether Refusal may refuse anything.
	Any() bool
	// Refusal returns why a request about a session is refused, or nil.
	Refusal(sessionID string, grant api.Grant) *api.Error
}

// Dispatcher runs connections: it finds the endpoint of each request, checks the
// connection's grant, and calls the handler. It has no goroutine of its own.
type Dispatcher struct {
	Options
	endpoints map[string]Endpoint // by the name of the request
}

// New makes a dispatcher.
func New(o Options) *Dispatcher {
	if o.Unwatched == nil {
		o.Unwatched = func() {}
	}
	if o.Unknown == nil {
		o.Unknown = state.UnknownSession
	}
	if o.ProjectOf == nil {
		o.ProjectOf = func(string) (string, bool) { return "", false }
	}
	d := &Dispatcher{Options: o, endpoints: map[string]Endpoint{}}
	for _, e := range o.Endpoints {
		d.endpoints[e.Name] = e
	}
	return d
}

// Knows reports whether the host serves a request of this name.
func (d *Dispatcher) Knows(name string) bool {
	_, ok := d.endpoints[name]
	return ok
}

// NewConn makes a connection for a single request, without an outbox. The caller calls
// Leave when the request has ended.
func (d *Dispatcher) NewConn(clientID string, grants []api.Grant, cancel context.CancelCauseFunc) *Conn {
	return &Conn{
		dispatcher: d, clientID: clientID, access: Access{Grants: grants}, cancel: cancel, ended: context.Background(),
		subscriptions: map[string]func(context.Context){}, placed: map[string]string{}, running: newRunning(),
	}
}

// Serve runs a client's connection until it or ctx ends, and returns why it ended.
func (d *Dispatcher) Serve(ctx context.Context, transport client.Transport, clientID string, grants []api.Grant) error {
	out := func(c *Conn) Outbox {
		return NewQueue(func(ctx context.Context, out Outgoing) error {
			if err := transport.Send(ctx, out.Message); err != nil {
				return fmt.Errorf("sending to an entry: %w", err)
			}
			return nil
		}, func(why error) { closeFor(transport, why) }, func() { c.cancel(ErrSlow) })
	}
	return d.Run(ctx, clientID, grants, out, func(ctx context.Context, c *Conn) error { return c.readLoop(ctx, transport) })
}

// Run runs the reader of a connection for as long as its client is admitted, and returns
// why it ended. out makes the connection's outbox. When Run returns, the connection's
// requests and writer have ended.
func (d *Dispatcher) Run(ctx context.Context, clientID string, grants []api.Grant, out func(*Conn) Outbox, read func(context.Context, *Conn) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c := d.NewConn(clientID, grants, cancel)
	c.out, c.ended = out(c), ctx
	d.Hub.add(c)
	if d.Begun != nil {
		d.Begun(clientID)
	}
	ctx, expire := d.untilToken(ctx, clientID)
	defer expire()
	var writer sync.WaitGroup
	writer.Go(func() { cancel(c.out.Run(ctx)) })
	err := read(ctx, c)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	if d.Hub.remove(c) {
		d.Unwatched()
	}
	c.Leave(ctx)
	if d.Ended != nil {
		d.Ended(clientID)
	}
	c.out.Close(err)
	c.requests.Wait()
	writer.Wait()
	return err
}

// closeFor closes a transport and, where it can carry the reason, sends it to the other end.
func closeFor(transport client.Transport, err error) {
	if sealed, ok := transport.(*client.Sealed); ok {
		switch {
		case errors.Is(err, ErrSlow):
			sealed.CloseWith(wire.ReasonSlowConsumer)
		case errors.Is(err, ErrClientRemoved):
			sealed.CloseWith(wire.ReasonNotAuthorized)
		case errors.Is(err, ErrAccessExpired):
			sealed.CloseWith(wire.ReasonExpired)
		}
	}
	_ = transport.Close()
}

// tokenPrefix begins the id of a token, in place of a client's.
const tokenPrefix = "tok_"

// untilToken limits the context of a token's connection: it ends when the token expires,
// and at once when the token was revoked since the connection was admitted. The hub must
// know the connection already, so that a later revocation finds it.
func (d *Dispatcher) untilToken(ctx context.Context, clientID string) (context.Context, context.CancelFunc) {
	if !strings.HasPrefix(clientID, tokenPrefix) {
		return ctx, func() {}
	}
	token, admitted := d.Tokens.Find(clientID)
	if !admitted {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(ErrTokenRevoked)
		return ctx, func() {}
	}
	if token.ExpiresAt == 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		if await(ctx, time.UnixMilli(token.ExpiresAt), time.Now) {
			cancel(ErrTokenExpired)
		}
	})
	return ctx, func() { cancel(nil); watch.Wait() }
}

// lookEvery bounds how long await waits at once. Timers stand still while a machine sleeps, and
// clocks are set: a connection ends within a second of its time nevertheless.
const lookEvery = time.Second

// await waits until a time; false if ctx ended before. at must have no monotonic clock reading.
func await(ctx context.Context, at time.Time, now func() time.Time) bool {
	for {
		left := at.Sub(now())
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(min(left, lookEvery))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}
