package host

import (
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// hub knows the open connections.
type hub struct {
	mu    sync.Mutex
	conns map[*conn]struct{}
}

func newHub() *hub { return &hub{conns: map[*conn]struct{}{}} }

func (h *hub) add(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns[c] = struct{}{}
}

// remove forgets a connection; true when somebody saw the list of sessions there.
func (h *hub) remove(c *conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
	return c.watching
}

// watch notes that somebody sees the list of sessions; true when that is new. A request
// by itself, as one over HTTP, is no connection that somebody sits at.
func (h *hub) watch(c *conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, lasts := h.conns[c]; !lasts || c.watching {
		return false
	}
	c.watching = true
	return true
}

// attended tells whether somebody sees the list of sessions who may give an answer that
// needs the grant.
func (h *hub) attended(grant api.Grant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.watching && c.may(grant) {
			return true
		}
	}
	return false
}

// broadcast tells every connection that may view of an event of the host.
func (h *hub) broadcast(event api.Event) error {
	encoded, err := api.EncodeEvent(api.EventEnvelope{Event: event})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.may(api.GrantView) {
			c.send(encoded)
		}
	}
	return nil
}

// online tells whether a client has a connection.
func (h *hub) online(clientID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.clientID == clientID {
			return true
		}
	}
	return false
}

// closeClient ends all connections of a client.
func (h *hub) closeClient(clientID string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.clientID == clientID {
			c.cancel(cause)
		}
	}
}
