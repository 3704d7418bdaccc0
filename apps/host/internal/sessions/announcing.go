package sessions

import (
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/api"
)

// announcer announces what becomes of sessions, in the order in which it happens.
type announcer struct {
	sessions  *registry
	spending  *spending
	index     *index.Index // nil is none
	onSummary func(api.SessionSummary)
	onDelete  func(projectID, id string)

	// mu is held from the creation of a summary until it was announced. It is locked before that
	// of the registry.
	mu sync.Mutex
}

// unregister removes a session that is gone, and announces that.
func (a *announcer) unregister(id string) { a.unregisterIf(id, func(*known) bool { return true }) }

// unregisterIf is unregister for a session that gone accepts. gone is called with the mu of the
// registry held, and with nil for a session that is not known.
func (a *announcer) unregisterIf(id string, gone func(*known) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions.mu.Lock()
	k := a.sessions.known[id]
	if !gone(k) {
		a.sessions.mu.Unlock()
		return
	}
	var changed []api.SessionSummary
	var projectID string
	if k != nil {
		projectID = k.project.ID
		a.sessions.forget(k)
		changed = a.sessions.above(k.header.ChildOf)
	}
	a.sessions.mu.Unlock()
	if a.index != nil {
		a.index.Remove(id)
	}
	a.onDelete(projectID, id)
	a.announce(changed)
}

// summaryChanged implements others: it stores the summary of a session and announces it. The
// sessions that it belongs to are announced again if it raised their usage.
func (a *announcer) summaryChanged(summary api.SessionSummary) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions.mu.Lock()
	spent, before := true, summary
	if k := a.sessions.known[summary.ID]; k != nil {
		spent = k.summary.Usage != summary.Usage || k.summary.Auxiliary != summary.Auxiliary || k.summary.Uncounted != summary.Uncounted
		before, k.summary = k.summary, summary
	}
	changed := []api.SessionSummary{a.sessions.accounted(summary)}
	if spent {
		changed = append(changed, a.sessions.above(summary.ParentSessionID)...)
	}
	a.sessions.mu.Unlock()
	a.spending.spend(before, summary) // it is stored before the session can call its model again
	a.announce(changed)
}

// announceNew announces a session that has just become known, and those that it belongs to.
func (a *announcer) announceNew(id string) (summary api.SessionSummary) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions.mu.Lock()
	changed := a.sessions.above(id)
	a.sessions.mu.Unlock()
	a.announce(changed)
	if len(changed) > 0 {
		summary = changed[0]
	}
	return summary
}

func (a *announcer) announce(summaries []api.SessionSummary) {
	for _, summary := range summaries {
		a.onSummary(summary)
	}
}
