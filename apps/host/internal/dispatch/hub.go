package dispatch

import (
	"log/slog"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Hub knows the open connections. Its methods may be called from any goroutine and do not
// block on a connection.
type Hub struct {
	log     *slog.Logger
	clients *state.Clients

	mu    sync.Mutex
	conns map[*Conn]struct{}
}

// NewHub makes a hub without connections. clients is the list of paired clients.
func NewHub(log *slog.Logger, clients *state.Clients) *Hub {
	return &Hub{log: log, clients: clients, conns: map[*Conn]struct{}{}}
}

func (h *Hub) add(c *Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns[c] = struct{}{}
}

// remove forgets a connection; true when it watched the list of sessions.
func (h *Hub) remove(c *Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
	return c.watching
}

// Watch records that a person sees the list of sessions on a connection; true when that is
// new. A single HTTP request is not a connection that a person watches.
func (h *Hub) Watch(c *Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, lasts := h.conns[c]; !lasts || c.watching {
		return false
	}
	c.watching = true
	return true
}

// Attended reports whether a connection with the grant watches the list of sessions, and
// someone sees it.
func (h *Hub) Attended(grant api.Grant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.watching && !c.Away() && c.May(grant) {
			return true
		}
	}
	return false
}

// Notify sends an event of the host to every connection that may view.
func (h *Hub) Notify(event api.Event) {
	h.notify(event, func(c *Conn) bool { return c.May(api.GrantView) })
}

// NotifyClient sends an event of the host to the connections of one client that have a grant.
func (h *Hub) NotifyClient(clientID string, grant api.Grant, event api.Event) {
	h.notify(event, func(c *Conn) bool { return c.clientID == clientID && c.May(grant) })
}

func (h *Hub) notify(event api.Event, to func(*Conn) bool) {
	envelope := api.EventEnvelope{Event: event}
	encoded, err := api.EncodeEvent(envelope)
	if err != nil {
		h.log.Error("notifying the clients failed", "event", event.EventType(), "error", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if to(c) {
			c.Deliver(envelope, encoded)
		}
	}
}

// Online reports whether a client has a connection.
func (h *Hub) Online(clientID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.clientID == clientID {
			return true
		}
	}
	return false
}

// RefreshGrants gives the open connections of a paired client the grants of the list of
// clients. Connections of this machine and of tokens keep the grants that they began with.
func (h *Hub) RefreshGrants(clientID string) {
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	client, known := h.clients.Get(id) // under the lock, so that the later of two changes stays
	if !known {
		return
	}
	for c := range h.conns {
		if c.clientID == clientID {
			c.setGrants(client.Grants)
		}
	}
}

// EndClient ends all connections of a client.
func (h *Hub) EndClient(clientID string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.clientID == clientID {
			c.cancel(cause)
		}
	}
}
