package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// ruling is how a call was decided. asked is true when a person did.
type ruling struct {
	decision api.Decision
	text     string // for the model, with a denial
	asked    bool
}

// rulingOf is an answer as the agent takes it.
func rulingOf(record session.ApprovalRecord) ruling {
	decision, feedback := api.Decision(record.Decision), strings.TrimSpace(record.Feedback)
	switch {
	case decision == api.DecisionAllow, decision == api.DecisionAlways:
		return ruling{decision: api.DecisionAllow, asked: true}
	case decision == api.DecisionStop:
		return ruling{decision: api.DecisionCancelled, asked: true}
	case decision == api.DecisionDeny && feedback != "":
		return ruling{decision: decision, asked: true, text: agent.TextFeedback + feedback}
	case decision == api.DecisionDeny && record.Unattended:
		return ruling{decision: decision, text: agent.TextNotApproved}
	}
	return ruling{decision: decision, asked: true}
}

// AnswerApproval answers a tool call that waits. The first answer wins; a later one gets the
// decision and who made it.
func (a *approvals) AnswerApproval(ctx context.Context, clientID string, r api.AnswerApprovalRequest) (response api.AnswerApprovalResponse, err error) {
	_, isChoice := r.Decision.Choice()
	known := []api.Decision{api.DecisionAllow, api.DecisionAlways, api.DecisionDeny, api.DecisionStop}
	switch {
	case !isChoice && !slices.Contains(known, r.Decision):
		return response, api.Errorf(api.KindBadRequest, "decision must be one of %s", api.Names(known))
	case len(r.Feedback) > api.MaxFeedback:
		return response, api.Errorf(api.KindTooLarge, "the feedback to the agent has %d bytes, the limit is %d: shorten it", len(r.Feedback), api.MaxFeedback)
	case r.Feedback != "" && r.Decision != api.DecisionDeny:
		return response, api.Errorf(api.KindBadRequest, "feedback to the agent is only possible with %q: deny, or send it as a prompt", api.DecisionDeny)
	}
	return inside(ctx, &a.owner, func() (api.AnswerApprovalResponse, error) { return a.answer(clientID, r) })
}

func (a *approvals) answer(clientID string, r api.AnswerApprovalRequest) (response api.AnswerApprovalResponse, err error) {
	request, waits := a.waiting.Get(r.ApprovalID)
	if !waits && a.turns.running.asksAgain(r.ApprovalID) {
		return response, api.Errorf(api.KindUnavailable, "the session is being resumed: try again in a moment")
	}
	if !waits {
		response, err := a.answeredBefore(clientID, r)
		if err != nil && a.held.on {
			err = errHeld()
		}
		return response, err
	}
	if err := a.checkAnswer(clientID, request.Value.approval, r); err != nil {
		return response, err
	}
	request.Value.signature, request.Value.unattended = r.Signature, r.Unattended && r.Decision == api.DecisionDeny
	response.Decision, response.DecidedBy, err = a.resolve(r.ApprovalID, r.Decision, clientID, r.Feedback)
	response.Won = err == nil && response.DecidedBy == clientID && response.Decision == r.Decision
	if response.Won && r.Decision == api.DecisionAlways {
		a.others.recheckProject(a.project.ID, clientID)
	}
	return response, err
}

// checkAnswer refuses an answer to something else than what waits, and one whose rules cannot
// be stored. It stores these.
func (a *approvals) checkAnswer(clientID string, approval api.Approval, r api.AnswerApprovalRequest) error {
	if r.Shown != "" && r.Shown != approval.Shown {
		return api.Errorf(api.KindConflict, "the effect of the call has changed since it was shown: review it again")
	}
	if r.Signature != nil {
		if a.deps.CheckAnswer == nil {
			return api.Errorf(api.KindBadRequest, "this host does not check signatures: answer without one")
		}
		if err := a.deps.CheckAnswer(clientID, approval, r); err != nil {
			return err
		}
	}
	if i, isChoice := r.Decision.Choice(); isChoice && i >= len(approval.Choices) {
		return api.Errorf(api.KindBadRequest, "the approval has no answer %q: its answers are %q", r.Decision, approval.Options)
	}
	if r.Feedback != "" && len(approval.Choices) > 0 {
		return api.Errorf(api.KindBadRequest, "this agent takes no feedback with a denial: deny, and send the feedback as a prompt")
	}
	if r.Decision != api.DecisionAlways {
		return nil
	}
	if len(approval.ProposedRules) == 0 || a.deps.Permissions == nil {
		return api.Errorf(api.KindBadRequest, "no rule is proposed for this call: allow it once, or deny it")
	}
	if err := a.deps.Permissions.Allow(a.project.ID, approval.ProposedRules); err != nil {
		return api.Errorf(api.KindUnavailable, "the rule could not be saved, and nothing was decided: %v", err)
	}
	return nil
}

// answeredBefore returns what was decided. An answer that the same client gave already, and
// sends again because the reply was lost, has won.
func (a *approvals) answeredBefore(clientID string, r api.AnswerApprovalRequest) (api.AnswerApprovalResponse, error) {
	record, err := read.Decided(a.log.Tree(), r.ApprovalID)
	if err != nil {
		return api.AnswerApprovalResponse{}, err
	}
	decision := api.Decision(record.Decision)
	return api.AnswerApprovalResponse{
		Decision: decision, DecidedBy: record.DecidedBy, Released: record.Released,
		Won: record.DecidedBy == clientID && decision == r.Decision && record.Feedback == r.Feedback,
	}, nil
}

// resolve stores the decision about an approval, publishes it, and only then lets the call go
// on. If the decision cannot be stored, the call is denied.
func (a *approvals) resolve(id string, decision api.Decision, by, feedback string) (api.Decision, string, error) {
	request, ok := a.waiting.Get(id)
	if !ok {
		record, err := read.Decided(a.log.Tree(), id)
		return api.Decision(record.Decision), record.DecidedBy, err
	}
	approval := request.Value.approval
	record := session.ApprovalRecord{
		ApprovalID: id, ToolCallID: approval.ToolCallID, Decision: string(decision), DecidedBy: by, Feedback: feedback, Signature: request.Value.signature,
		Unattended: request.Value.unattended,
	}
	if decision == api.DecisionAlways {
		record.Rules = approval.ProposedRules
	}
	stops := decision == api.DecisionStop && a.turns.running != nil
	if stops {
		a.turns.announceCancel()
	}
	if err := a.appendCustom(session.CustomApproval, record, by); err != nil {
		a.logger.Error("storing a decision", "session", a.id, "error", err)
		record.Decision, record.DecidedBy, record.Feedback, record.Rules, record.Signature, record.Unattended = string(api.DecisionDeny), hostID, "", nil, nil, false
	}
	a.settle(record)
	if stops {
		a.turns.running.cancel()
	}
	return api.Decision(record.Decision), record.DecidedBy, nil
}

// settle publishes a decision that is in the log, and lets the agent continue.
func (a *approvals) settle(record session.ApprovalRecord) {
	request, _ := a.waiting.Take(record.ApprovalID)
	a.publish(resolved(record))
	a.settled(record.ApprovalID)
	request.Answer(rulingOf(record))
	a.updateSummary()
	a.updateAttendance()
}

func resolved(record session.ApprovalRecord) api.ApprovalResolved {
	return api.ApprovalResolved{
		ApprovalID: record.ApprovalID, Decision: api.Decision(record.Decision), DecidedBy: record.DecidedBy,
		Feedback: record.Feedback, Rules: record.Rules, Released: record.Released,
	}
}
