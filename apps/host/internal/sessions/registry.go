package sessions

import (
	"maps"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// registry is the list of the sessions of a host. The usage of a session is its own and that of
// its subagents' sessions. Each session keeps its own; the registry adds them up.
type registry struct {
	mu    sync.Mutex
	known map[string]*known
	byKey map[string]string // clientKey of create_session -> session id
	// missing means that a provider could not list its sessions, and unread are the sessions
	// that were listed and could not be read: there may be more than known has.
	missing bool
	unread  map[string]bool
	// offspring lists the ids of a session's subagent sessions.
	offspring map[string][]string
}

func newRegistry() *registry {
	return &registry{known: map[string]*known{}, byKey: map[string]string{}, offspring: map[string][]string{}}
}

// known is a registered session.
type known struct {
	header  session.Header
	project api.Project
	summary api.SessionSummary
	open    *Session // nil until first use
}

// register makes a session known. g.mu is held.
func (g *registry) register(k *known) {
	id, parent := k.header.ID, k.header.ChildOf
	g.known[id] = k
	if k.header.ClientKey != "" {
		g.byKey[k.header.ClientKey] = id
	}
	if parent != "" && !slices.Contains(g.offspring[parent], id) {
		g.offspring[parent] = append(g.offspring[parent], id)
	}
}

// forget undoes register. g.mu is held.
func (g *registry) forget(k *known) {
	id, parent := k.header.ID, k.header.ChildOf
	delete(g.byKey, k.header.ClientKey)
	delete(g.known, id)
	g.offspring[parent] = slices.DeleteFunc(g.offspring[parent], func(child string) bool { return child == id })
	if len(g.offspring[parent]) == 0 {
		delete(g.offspring, parent)
	}
}

// above returns the summaries of a session and of those that it belongs to. g.mu is held.
func (g *registry) above(id string) (list []api.SessionSummary) {
	seen := map[string]bool{}
	for k := g.known[id]; k != nil && !seen[k.header.ID]; k = g.known[k.header.ChildOf] {
		seen[k.header.ID] = true
		list = append(list, g.accounted(k.summary))
	}
	return list
}

// withSubagents implements others.
func (g *registry) withSubagents(s api.SessionSummary) api.SessionSummary {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.accounted(s)
}

// accounted adds the usage of its subagents to a session's own summary. g.mu is held.
func (g *registry) accounted(s api.SessionSummary) api.SessionSummary {
	if len(g.offspring[s.ID]) == 0 || g.inCycle(s.ID) {
		return s
	}
	sum, uncounted := g.delegated(s.ID)
	s.Delegated = sum
	s.Uncounted += uncounted
	return s
}

// delegated is the usage of the sessions that belong to one, which does not belong to itself.
// g.mu is held.
func (g *registry) delegated(id string) (sum api.TokenUsage, uncounted int) {
	for _, child := range g.offspring[id] {
		own := g.known[child].summary
		theirs, more := g.delegated(child)
		sum = plusAll(sum, own.Usage, own.Auxiliary, theirs)
		uncounted += own.Uncounted + more
	}
	return sum, uncounted
}

func plusAll(sum api.TokenUsage, more ...api.TokenUsage) api.TokenUsage {
	for _, u := range more {
		sum.Input += u.Input
		sum.Output += u.Output
		sum.CacheRead += u.CacheRead
		sum.CacheWrite += u.CacheWrite
		sum.Cost += u.Cost
	}
	return sum
}

// Unknown returns the error for an id that belongs to no known session. It says that the session
// is unavailable while it may be one that could not be listed or read.
func (g *registry) Unknown(id string) *api.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unknownLocked(id)
}

func (g *registry) unknownLocked(id string) *api.Error {
	if g.missing || g.unread[id] {
		return api.Errorf(api.KindUnavailable, "the session %.64q cannot be found now, because not all sessions of this host can be read: try again when they can", id)
	}
	return state.UnknownSession(id)
}

// ProjectOf returns the project of a session; false if there is no such session.
func (g *registry) ProjectOf(id string) (projectID string, exists bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k, ok := g.known[id]; ok {
		return k.project.ID, true
	}
	return "", false
}

// opened returns the sessions that were used since the host's start.
func (g *registry) opened() (list []*Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(g.known)) {
		if s := g.known[id].open; s != nil {
			list = append(list, s)
		}
	}
	return list
}
