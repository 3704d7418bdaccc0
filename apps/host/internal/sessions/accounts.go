package sessions

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// The usage of a session is its own and that of its subagents' sessions. Each session keeps its
// own; the manager, which knows all, adds them up when it announces one.

// register makes a session known. m.mu is held.
func (m *Manager) register(k *known) {
	id, parent := k.header.ID, k.header.ChildOf
	m.known[id] = k
	if k.header.ClientKey != "" {
		m.byKey[k.header.ClientKey] = id
	}
	if parent != "" && !slices.Contains(m.offspring[parent], id) {
		m.offspring[parent] = append(m.offspring[parent], id)
	}
}

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

// above returns the summaries of a session and of those that it belongs to. m.mu is held.
func (m *Manager) above(id string) (list []api.SessionSummary) {
	seen := map[string]bool{}
	for k := m.known[id]; k != nil && !seen[k.header.ID]; k = m.known[k.header.ChildOf] {
		seen[k.header.ID] = true
		list = append(list, m.accounted(k.summary))
	}
	return list
}

// withSubagents implements others.
func (m *Manager) withSubagents(s api.SessionSummary) api.SessionSummary {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accounted(s)
}

// accounted adds the usage of its subagents to a session's own summary. m.mu is held.
func (m *Manager) accounted(s api.SessionSummary) api.SessionSummary {
	if len(m.offspring[s.ID]) == 0 || m.inCycle(s.ID) {
		return s
	}
	sum, uncounted := m.delegated(s.ID)
	s.Delegated = sum
	s.Uncounted += uncounted
	return s
}

// delegated is the usage of the sessions that belong to one, which does not belong to itself.
// m.mu is held.
func (m *Manager) delegated(id string) (sum api.TokenUsage, uncounted int) {
	for _, child := range m.offspring[id] {
		own := m.known[child].summary
		theirs, more := m.delegated(child)
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
