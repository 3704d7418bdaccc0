// Package dispatchtest serves the endpoints of a package to clients in the same process, for
// tests of that package. Requests pass through the dispatcher and the client as those of any
// connection do.
package dispatchtest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Host is a dispatcher with the files of a temporary home.
type Host struct {
	Paths    state.Paths
	Hub      *dispatch.Hub
	Clients  *state.Clients
	Tokens   *state.Tokens
	Projects *state.Projects
	Trust    *state.Trust
	Log      *slog.Logger
	// Presence is called when a connection began or ended; nil is not called.
	Presence func(clientID string)

	t          testing.TB
	dispatcher *dispatch.Dispatcher
}

// New makes a host that serves nothing yet.
func New(t testing.TB) *Host {
	t.Helper()
	h := &Host{t: t, Paths: state.Paths{Home: t.TempDir()}, Log: slog.New(slog.DiscardHandler)}
	var errs [4]error
	h.Clients, errs[0] = state.LoadClients(h.Paths.Clients())
	h.Tokens, errs[1] = state.LoadTokens(h.Paths.Tokens())
	h.Projects, errs[2] = state.LoadProjects(h.Paths.Projects())
	h.Trust, errs[3] = state.LoadTrust(h.Paths.Trust())
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	h.Hub = dispatch.NewHub(h.Log, h.Clients)
	return h
}

// Serve sets the endpoints for the connections that follow.
func (h *Host) Serve(endpoints []dispatch.Endpoint) {
	h.dispatcher = dispatch.New(dispatch.Options{Logger: h.Log, Hub: h.Hub, Tokens: h.Tokens, Endpoints: endpoints, Unwatched: func() {}, Begun: h.Presence, Ended: h.Presence})
}

// AddProject adds a new folder to the projects.
func (h *Host) AddProject() api.Project {
	h.t.Helper()
	project, err := h.Projects.Add(h.t.TempDir())
	if err != nil {
		h.t.Fatal(err)
	}
	return project
}

// maxEvents is how many events a test may leave unread.
const maxEvents = 1024

// Client is the connection of a client. Events receives the types of its events, up to
// maxEvents that are unread.
type Client struct {
	*client.Client
	Events chan string
}

// Connect connects a client with some grants until the test ends. The hub knows the
// connection when the first answer has arrived.
func (h *Host) Connect(clientID string, grants ...api.Grant) *Client {
	events := make(chan string, maxEvents)
	c := h.Watch(clientID, func(e api.EventEnvelope) { events <- e.Event.EventType() }, grants...)
	c.Events = events
	return c
}

// Watch is Connect for a client whose events are handed to a function, and not to Events.
func (h *Host) Watch(clientID string, onEvent func(api.EventEnvelope), grants ...api.Grant) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	near, far := client.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = h.dispatcher.Serve(ctx, far, clientID, grants) // the client sees that it ended
		_ = far.Close()
	})
	c := &Client{Client: client.New(near, onEvent)}
	h.t.Cleanup(func() {
		cancel()
		_ = c.Close()
		serving.Wait()
	})
	return c
}

// Local connects a client of this machine, which has every grant.
func (h *Host) Local() *Client {
	return h.Connect(dispatch.LocalID, api.LocalGrants()...)
}

// Call sends a request that must succeed.
func Call[Request, Response any](t testing.TB, c *Client, to api.Definition[Request, Response], request Request) Response {
	t.Helper()
	response, err := client.Call(t.Context(), c.Client, to, request)
	if err != nil {
		t.Fatalf("%s: %v", to.Name(), err)
	}
	return response
}

// Try sends a request that may fail.
func Try[Request, Response any](t testing.TB, c *Client, to api.Definition[Request, Response], request Request) (Response, error) {
	t.Helper()
	return client.Call(t.Context(), c.Client, to, request)
}

// Refused sends a request that must fail with an error of the given kind.
func Refused[Request, Response any](t testing.TB, c *Client, to api.Definition[Request, Response], request Request, kind api.Kind) {
	t.Helper()
	_, err := client.Call(t.Context(), c.Client, to, request)
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != kind {
		t.Errorf("%s %+v: %v, want the kind %d", to.Name(), request, err, kind)
	}
}
