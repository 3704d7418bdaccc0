package sessions

// Attend has the sessions that wait for a person check again who watches. It does not wait
// for them.
func (m *Manager) Attend() {
	m.notify(func(k *known) bool { return k.summary.WaitingApproval || k.summary.WaitingAnswer }, func(s *Session) { s.updateAttendance() })
}

// notify has the open sessions that are chosen do something, each in its own goroutine. It
// waits for none of them, since a session may call it. A session that closes in the meantime does
// nothing: nothing waits for a person there.
func (m *Manager) notify(chosen func(*known) bool, do func(*Session)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	for _, k := range m.known {
		if s := k.open; s != nil && chosen(k) {
			m.wg.Go(func() { _ = s.post(m.ctx, func() { do(s) }) }) // the error is that it closed
		}
	}
}

// Reconsider has the sessions of a project, or all with "", judge the calls that wait again,
// because of a rule that clientID changed. It does not wait for them.
func (m *Manager) Reconsider(projectID, clientID string) { m.recheckProject(projectID, clientID) }

// recheckProject implements others.
func (m *Manager) recheckProject(projectID, clientID string) {
	m.recheck(func(k *known) bool { return projectID == "" || k.project.ID == projectID }, clientID)
}

// recheckSubagents implements others.
func (m *Manager) recheckSubagents(parentID, clientID string) {
	m.recheck(func(k *known) bool { return k.header.ChildOf == parentID }, clientID)
}

func (m *Manager) recheck(chosen func(*known) bool, clientID string) {
	m.notify(chosen, func(s *Session) { s.approvals.recheck(clientID) })
}
