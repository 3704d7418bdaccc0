package sessions

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// unregister removes a session that is gone, and announces that.
func (m *Manager) unregister(id string) { m.unregisterIf(id, func(*known) bool { return true }) }

// unregisterIf is unregister for a session that gone accepts. gone is called with m.mu held, and
// with nil for a session that is not known.
func (m *Manager) unregisterIf(id string, gone func(*known) bool) {
	m.announcing.Lock()
	defer m.announcing.Unlock()
	m.mu.Lock()
	k := m.known[id]
	if !gone(k) {
		m.mu.Unlock()
		return
	}
	var changed []api.SessionSummary
	var projectID string
	if k != nil {
		projectID = k.project.ID
		parent := k.header.ChildOf
		delete(m.byKey, k.header.ClientKey)
		delete(m.known, id)
		m.offspring[parent] = slices.DeleteFunc(m.offspring[parent], func(child string) bool { return child == id })
		if len(m.offspring[parent]) == 0 {
			delete(m.offspring, parent)
		}
		changed = m.above(parent)
	}
	m.mu.Unlock()
	if m.deps.Index != nil {
		m.deps.Index.Remove(id)
	}
	m.deps.OnDelete(projectID, id)
	m.announce(changed)
}

// summaryChanged implements others: it stores the summary of a session and announces it. The
// sessions that it belongs to are announced again if it raised their usage.
func (m *Manager) summaryChanged(summary api.SessionSummary) {
	m.announcing.Lock()
	defer m.announcing.Unlock()
	m.mu.Lock()
	spent, before := true, summary
	if k := m.known[summary.ID]; k != nil {
		spent = k.summary.Usage != summary.Usage || k.summary.Auxiliary != summary.Auxiliary || k.summary.Uncounted != summary.Uncounted
		before, k.summary = k.summary, summary
	}
	changed := []api.SessionSummary{m.accounted(summary)}
	if spent {
		changed = append(changed, m.above(summary.ParentSessionID)...)
	}
	m.mu.Unlock()
	m.spend(before, summary) // it is stored before the session can call its model again
	m.announce(changed)
}

// announceNew announces a session that has just become known, and those that it belongs to.
func (m *Manager) announceNew(id string) (summary api.SessionSummary) {
	m.announcing.Lock()
	defer m.announcing.Unlock()
	m.mu.Lock()
	changed := m.above(id)
	m.mu.Unlock()
	m.announce(changed)
	if len(changed) > 0 {
		summary = changed[0]
	}
	return summary
}

func (m *Manager) announce(summaries []api.SessionSummary) {
	for _, summary := range summaries {
		m.deps.OnSummary(summary)
	}
}
