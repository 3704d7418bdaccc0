package sessions

import (
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// recheck releases the calls that wait and that the rules or the mode allow by now, because of
// a change by clientID. It denies nothing.
func (a *approvals) recheck(clientID string) {
	if a.log == nil || a.closing || a.turns.canceling() {
		return
	}
	for _, request := range a.waiting.All() {
		verdict, mode := a.verdict(request)
		if verdict.Action != permission.Allow {
			continue
		}
		if err := a.release(request.Value.approval, clientID, releaseOf(verdict, mode)); err != nil {
			a.logger.Error("releasing a waiting call failed", "session", a.id, "error", err)
		}
	}
}

// releaseOf says what allows a call that waited.
func releaseOf(verdict permission.Verdict, mode api.Mode) *session.Release {
	release := &session.Release{Rules: verdict.Rules}
	if verdict.ByMode {
		release.Mode = string(mode)
	}
	return release
}

// release stores what allows a call, publishes it, and only then lets the call continue. If it
// cannot be stored, the call keeps waiting: it was not denied.
func (a *approvals) release(approval api.Approval, by string, release *session.Release) error {
	record := session.ApprovalRecord{
		ApprovalID: approval.ID, ToolCallID: approval.ToolCallID,
		Decision: string(api.DecisionAllow), DecidedBy: by, Released: release,
	}
	if err := a.appendCustom(session.CustomApproval, record, clientOf(by)); err != nil {
		return err
	}
	a.settle(record)
	return nil
}

// clientOf returns the client of a change; "" if the host made it.
func clientOf(by string) string {
	if by == hostID {
		return ""
	}
	return by
}

// settleKept ends an approval from before a restart whose call needs no person any more, so
// that the call does not wait again after another crash of the host.
func (a *approvals) settleKept(kept read.WaitingCall, verdict permission.Verdict, mode api.Mode) error {
	if kept.ID == "" {
		return nil
	}
	record := session.ApprovalRecord{
		ApprovalID: kept.ID, ToolCallID: kept.ToolCallID, Decision: string(api.DecisionDeny), DecidedBy: hostID,
	}
	if verdict.Action != permission.Deny {
		record.Decision, record.Released = string(api.DecisionAllow), releaseOf(verdict, mode)
	}
	if err := a.appendCustom(session.CustomApproval, record, ""); err != nil {
		return err
	}
	a.publish(resolved(record))
	return nil
}
