package sessions

import (
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Reconsider lets the sessions of a project, or with "" all, look again at the calls that
// wait, because of a rule that clientID changed. It does not wait for them.
func (m *Manager) Reconsider(projectID, clientID string) {
	m.reconsider(func(k *known) bool { return projectID == "" || k.project.ID == projectID }, clientID)
}

// reconsider lets the open sessions that are chosen look again at the calls that wait.
func (m *Manager) reconsider(chosen func(*known) bool, clientID string) {
	m.nudge(chosen, func(s *Session) { s.reconsider(clientID) })
}

// reconsider lets the calls go that wait and that the rules or the mode allow by now,
// because of what clientID changed. Nothing that waits is denied by it.
func (s *Session) reconsider(clientID string) {
	if s.log == nil || s.closing || s.cancelling() {
		return
	}
	for _, pending := range s.pending {
		verdict, mode := s.judge(pending)
		if verdict.Action != gate.Allow {
			continue
		}
		if err := s.release(pending, clientID, releaseOf(verdict, mode)); err != nil {
			s.deps.Logger.Error("a call that may go on by now waits still", "session", s.id, "error", err)
		}
	}
}

// releaseOf says what allows a call that waited.
func releaseOf(verdict gate.Verdict, mode api.Mode) *session.Release {
	release := &session.Release{Rules: verdict.Rules}
	if verdict.ByMode {
		release.Mode = string(mode)
	}
	return release
}

// release puts on disk what lets a call go, tells everybody, and only then lets it. Where
// the disk refuses the call waits on: nobody has said no to it.
func (s *Session) release(pending *pendingApproval, by string, release *session.Release) error {
	record := session.ApprovalRecord{
		ApprovalID: pending.approval.ID, ToolCallID: pending.approval.ToolCallID,
		Decision: string(api.DecisionAllow), DecidedBy: by, Released: release,
	}
	if err := s.keepCustom(session.CustomApproval, record, clientOf(by)); err != nil {
		return err
	}
	s.settle(pending, record)
	return nil
}

// clientOf is who did it; "" is nobody, where the host did.
func clientOf(by string) string {
	if by == hostID {
		return ""
	}
	return by
}

// settleKept ends an approval from before a restart whose call needs no person any more,
// so that a host that dies once more does not take the call for one that waits.
func (s *Session) settleKept(kept read.WaitingCall, verdict gate.Verdict, mode api.Mode) error {
	if kept.ID == "" {
		return nil
	}
	record := session.ApprovalRecord{
		ApprovalID: kept.ID, ToolCallID: kept.ToolCallID, Decision: string(api.DecisionDeny), DecidedBy: hostID,
	}
	if verdict.Action != gate.Deny {
		record.Decision, record.Released = string(api.DecisionAllow), releaseOf(verdict, mode)
	}
	if err := s.keepCustom(session.CustomApproval, record, ""); err != nil {
		return err
	}
	s.publish(resolved(record))
	return nil
}

// settle tells how an approval was decided, which the log holds, and lets the agent go on.
func (s *Session) settle(pending *pendingApproval, record session.ApprovalRecord) {
	delete(s.pending, record.ApprovalID)
	s.publish(resolved(record))
	pending.answer <- rulingOf(api.Decision(record.Decision), record.Feedback)
	s.touch()
	s.attend()
}

func resolved(record session.ApprovalRecord) api.ApprovalResolved {
	return api.ApprovalResolved{
		ApprovalID: record.ApprovalID, Decision: api.Decision(record.Decision), DecidedBy: record.DecidedBy,
		Feedback: record.Feedback, Rules: record.Rules, Released: record.Released,
	}
}
