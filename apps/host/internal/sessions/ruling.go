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
func rulingOf(decision api.Decision, feedback string) ruling {
	switch {
	case decision == api.DecisionAllow, decision == api.DecisionAlways:
		return ruling{decision: api.DecisionAllow, asked: true}
	case decision == api.DecisionStop:
		return ruling{decision: api.DecisionCancelled, asked: true}
	case decision == api.DecisionDeny && strings.TrimSpace(feedback) != "":
		return ruling{decision: decision, asked: true, text: agent.TextFeedback + strings.TrimSpace(feedback)}
	}
	return ruling{decision: decision, asked: true}
}

// AnswerApproval answers a tool call that waits. The first answer wins; a later
// one learns what was decided and by whom.
func (s *Session) AnswerApproval(ctx context.Context, clientID string, r api.AnswerApprovalRequest) (response api.AnswerApprovalResponse, err error) {
	known := []api.Decision{api.DecisionAllow, api.DecisionAlways, api.DecisionDeny, api.DecisionStop}
	switch {
	case !slices.Contains(known, r.Decision):
		return response, api.Errorf(api.KindBadRequest, "decision must be one of %q", known)
	case len(r.Feedback) > api.MaxFeedback:
		return response, api.Errorf(api.KindTooLarge, "the word to the agent has %d bytes, the limit is %d: write less", len(r.Feedback), api.MaxFeedback)
	case r.Feedback != "" && r.Decision != api.DecisionDeny:
		return response, api.Errorf(api.KindBadRequest, "a word to the agent goes with %q only: deny, or send it as a prompt", api.DecisionDeny)
	}
	doErr := s.do(ctx, func() { response, err = s.answer(clientID, r) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, err
}

func (s *Session) answer(clientID string, r api.AnswerApprovalRequest) (response api.AnswerApprovalResponse, err error) {
	pending, waits := s.pending[r.ApprovalID]
	if waits && r.Shown != "" && r.Shown != pending.approval.Shown {
		return response, api.Errorf(api.KindConflict, "what the call would do has changed since it was shown: look at it again")
	}
	if waits && r.Decision == api.DecisionAlways {
		if len(pending.approval.ProposedRules) == 0 || s.deps.Permissions == nil {
			return response, api.Errorf(api.KindBadRequest, "no rule is proposed for this call: allow it once, or deny it")
		}
		if err := s.deps.Permissions.Allow(s.project.ID, pending.approval.ProposedRules); err != nil {
			return response, api.Errorf(api.KindUnavailable, "the rule could not be kept, and nothing was decided: %v", err)
		}
	}
	if !waits {
		return s.answeredBefore(clientID, r)
	}
	response.Decision, response.DecidedBy, err = s.resolve(r.ApprovalID, r.Decision, clientID, r.Feedback)
	response.Won = err == nil && response.DecidedBy == clientID && response.Decision == r.Decision
	if response.Won && r.Decision == api.DecisionAlways {
		s.deps.reconsider(func(k *known) bool { return k.project.ID == s.project.ID }, clientID)
	}
	return response, err
}

// answeredBefore tells what was decided. An answer that the same client gave already,
// and that it sends again because the reply was lost, has won.
func (s *Session) answeredBefore(clientID string, r api.AnswerApprovalRequest) (api.AnswerApprovalResponse, error) {
	record, err := read.Decided(s.log.Tree(), r.ApprovalID)
	if err != nil {
		return api.AnswerApprovalResponse{}, err
	}
	decision := api.Decision(record.Decision)
	return api.AnswerApprovalResponse{
		Decision: decision, DecidedBy: record.DecidedBy, Released: record.Released,
		Won: record.DecidedBy == clientID && decision == r.Decision && record.Feedback == r.Feedback,
	}, nil
}

// resolve takes the approval out of the map, puts the decision on disk, tells
// everybody, and only then lets the tool go. Where the disk refuses, so does it.
func (s *Session) resolve(id string, decision api.Decision, by, feedback string) (api.Decision, string, error) {
	pending, ok := s.pending[id]
	if !ok {
		record, err := read.Decided(s.log.Tree(), id)
		return api.Decision(record.Decision), record.DecidedBy, err
	}
	record := session.ApprovalRecord{
		ApprovalID: id, ToolCallID: pending.approval.ToolCallID, Decision: string(decision), DecidedBy: by, Feedback: feedback,
	}
	if decision == api.DecisionAlways {
		record.Rules = pending.approval.ProposedRules
	}
	stops := decision == api.DecisionStop && s.turn != nil
	if stops && !s.cancelling() {
		s.publish(api.TurnCancelling{TurnID: s.turn.id})
	}
	if err := s.keepCustom(session.CustomApproval, record, by); err != nil {
		s.deps.Logger.Error("keeping a decision", "session", s.id, "error", err)
		record.Decision, record.DecidedBy, record.Feedback, record.Rules = string(api.DecisionDeny), hostID, "", nil
	}
	s.settle(pending, record)
	if stops {
		s.turn.cancel()
	}
	return api.Decision(record.Decision), record.DecidedBy, nil
}
