package sessions

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// What a session took is its own sum and those of the sessions that its agent had made. Each
// session keeps its own; the manager, which knows all, adds them up when one is told of.

// know makes a session known. m.mu is held.
func (m *Manager) know(k *known) {
	id, parent := k.header.ID, k.header.ChildOf
	m.known[id] = k
	if k.header.ClientKey != "" {
		m.byKey[k.header.ClientKey] = id
	}
	if parent != "" && !slices.Contains(m.offspring[parent], id) {
		m.offspring[parent] = append(m.offspring[parent], id)
	}
}

// forget is for a session that is gone.
func (m *Manager) forget(id string) {
	m.telling.Lock()
	defer m.telling.Unlock()
	m.mu.Lock()
	var changed []api.SessionSummary
	if k := m.known[id]; k != nil {
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
	m.deps.OnDelete(id)
	m.say(changed)
}

// tell keeps what a session is like now, and tells it. The sessions that it belongs to are
// told of again where they took more by it.
func (m *Manager) tell(summary api.SessionSummary) {
	m.telling.Lock()
	defer m.telling.Unlock()
	m.mu.Lock()
	spent := true
	if k := m.known[summary.ID]; k != nil {
		spent = k.summary.Usage != summary.Usage || k.summary.Auxiliary != summary.Auxiliary || k.summary.Uncounted != summary.Uncounted
		k.summary = summary
	}
	told := []api.SessionSummary{m.accounted(summary)}
	if spent {
		told = append(told, m.above(summary.ParentSessionID)...)
	}
	m.mu.Unlock()
	m.say(told)
}

// tellNew tells of a session that has just become known, and of those that it belongs to.
func (m *Manager) tellNew(id string) (summary api.SessionSummary) {
	m.telling.Lock()
	defer m.telling.Unlock()
	m.mu.Lock()
	told := m.above(id)
	m.mu.Unlock()
	m.say(told)
	if len(told) > 0 {
		summary = told[0]
	}
	return summary
}

func (m *Manager) say(summaries []api.SessionSummary) {
	for _, summary := range summaries {
		m.onSummary(summary)
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

// account is accounted for a session's goroutine.
func (m *Manager) account(s api.SessionSummary) api.SessionSummary {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accounted(s)
}

// accounted puts into a session's own summary what was spent for it by others. m.mu is
// held.
func (m *Manager) accounted(s api.SessionSummary) api.SessionSummary {
	if len(m.offspring[s.ID]) == 0 || m.looped(s.ID) {
		return s
	}
	sum, uncounted := m.delegated(s.ID)
	s.Delegated = sum
	s.Uncounted += uncounted
	return s
}

// delegated is what the sessions took that belong to one, which does not belong to itself.
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
