package dispatch

import (
	"log/slog"
	"slices"
	"strings"
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

	chats func(clientID string) Access // static after the start

	mu    sync.Mutex
	conns map[*Conn]struct{}
}

// chatPrefix begins the id of a chat on a chat platform, in place of a client's.
const chatPrefix = "chat_"

// Chats sets what chats may do now. It is called before the first connection.
func (h *Hub) Chats(access func(clientID string) Access) { h.chats = access }

// NewHub makes a hub without connections. clients is the list of paired clients.
func NewHub(log *slog.Logger, clients *state.Clients) *Hub {
	return &Hub{log: log, clients: clients, conns: map[*Conn]struct{}{}}
}

// add begins to notify a connection. That of a paired client or guest has what the list of
// clients says from its first event on, whatever its caller read before. If the client was
// removed meanwhile, the connection may do nothing and ends: without its limits it would see
// more than before. A later removal finds it in the hub.
func (h *Hub) add(c *Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	access, listed := h.accessOf(c.clientID)
	if _, err := ident.ParseClientID(c.clientID); listed || err == nil {
		c.setAccess(access)
		if !listed {
			c.cancel(ErrClientRemoved)
		}
	}
	h.conns[c] = struct{}{}
}

// Connections returns how many connections there are.
func (h *Hub) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}

// accessOf returns what the list of clients, or of chats, says of a client; false if it is not
// listed. A chat that is not listed may do nothing.
func (h *Hub) accessOf(clientID string) (Access, bool) {
	if strings.HasPrefix(clientID, chatPrefix) {
		if h.chats == nil {
			return Access{}, true
		}
		return h.chats(clientID), true
	}
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return Access{}, false
	}
	client, known := h.clients.Get(id)
	return Access{client.Grants, client.ClientLimits, client.SessionID}, known
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

// Attended reports whether a connection with the grant watches the list of sessions with
// those of a project, and someone sees it.
func (h *Hub) Attended(projectID string, grant api.Grant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.watching && !c.Away() && c.May(grant) && c.SeesProject(projectID) {
			return true
		}
	}
	return false
}

// Looking reports whether a person with a grant sees one of some sessions now, in a page or
// terminal that shows it. The list of sessions does not count, nor does a page that is out of
// sight, nor a guest.
func (h *Hub) Looking(grant api.Grant, sessionIDs ...string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if slices.ContainsFunc(sessionIDs, func(id string) bool { return c.looksAt(grant, id) }) {
			return true
		}
	}
	return false
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

// RefreshAccess gives the open connections of a paired client what the list of clients
// says. Those that see another part of the host now end: they load it when they reconnect.
// Connections of this machine and of tokens keep what they began with.
func (h *Hub) RefreshAccess(clientID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	access, listed := h.accessOf(clientID) // under the lock, so that the later of two changes stays
	if !listed {
		return
	}
	for c := range h.conns {
		if c.clientID != clientID {
			continue
		}
		changed := !c.Access().sameView(access)
		c.setAccess(access)
		if changed {
			c.cancel(ErrLimitsChanged)
		}
	}
}

// EndClient ends all connections of a client.
func (h *Hub) EndClient(clientID string, cause error) { h.EndClientBut(nil, clientID, cause) }

// EndClientBut ends all connections of a client but one.
func (h *Hub) EndClientBut(but *Conn, clientID string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.clientID == clientID && c != but {
			c.cancel(cause)
		}
	}
}
