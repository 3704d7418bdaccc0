package sessions

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Attend lets the sessions that wait for a person look again at who is there. It does not
// wait for them.
func (m *Manager) Attend() {
	m.nudge(func(k *known) bool { return k.summary.WaitingApproval || k.summary.WaitingAnswer }, (*Session).attend)
}

// nudge has the open sessions that are chosen do something, each in its own goroutine. A
// session calls it, so nothing waits here. One that closes meanwhile does not do it: nothing
// waits for a person there.
func (m *Manager) nudge(chosen func(*known) bool, do func(*Session)) {
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

// attended tells whether somebody watches the session, or the list of all, who may give an
// answer that needs the grant: in the list they see that it waits.
func (s *Session) attended(grant api.Grant) bool {
	for _, grants := range s.subscribers {
		if slices.Contains(grants, grant) {
			return true
		}
	}
	return s.deps.Attended != nil && s.deps.Attended(grant)
}

// attend tells everybody when it changes whether something waits that nobody who
// watches may answer. The summary comes first, so that Attend misses no session.
func (s *Session) attend() {
	if s.log == nil {
		return
	}
	unattended := len(s.pending) > 0 && !s.attended(api.GrantApprove) || len(s.questions) > 0 && !s.attended(api.GrantPrompt)
	if unattended != s.live.Unattended {
		s.publish(api.AttendanceChanged{Unattended: unattended})
	}
}
