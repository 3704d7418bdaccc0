package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// asker is the agent's way to the gate and, where that asks, to the people who
// watch.
type asker struct{ s *Session }

// pendingApproval waits for an answer. The answer channel holds one, and only the
// goroutine that takes the approval out of the map sends it.
type pendingApproval struct {
	approval api.Approval
	answer   chan ruling
	request  gate.Request // as it was judged
	insist   bool         // whatever the rules say
}

// ruling is how a call was decided. asked is true when a person did.
type ruling struct {
	decision api.Decision
	text     string // for the model, with a denial
	asked    bool
}

// maxChanges is how often a call is asked for again because what it would do has
// changed under the question.
const maxChanges = 5

// Ask implements agent.Gate. What a person allowed is compared with what the call
// would do now: an answer counts for what was shown and nothing else.
func (a asker) Ask(ctx context.Context, call agent.Call, what agent.Description) (api.Decision, error) {
	for range maxChanges {
		r, err := a.once(ctx, call, what)
		if err != nil || r.decision != api.DecisionAllow {
			if err == nil && r.text != "" {
				err = &agent.Refusal{Text: r.text}
			}
			return r.decision, err
		}
		now := what
		if tool := a.s.tool(call.Name); r.asked && tool != nil {
			now = tool.Describe(call)
			if what.Insist { // the loop wrote the title
				now.Title, now.Insist = what.Title, true
			}
		}
		if fingerprint(call, now) == fingerprint(call, what) {
			return api.DecisionAllow, nil
		}
		what = now
	}
	return api.DecisionDeny, &agent.Refusal{Text: "Not executed: what this call would do changed each time it was shown to the user. Look at the files again first."}
}

// once puts the call before the gate and waits for the first answer of any entry.
func (a asker) once(ctx context.Context, call agent.Call, what agent.Description) (ruling, error) {
	pending := &pendingApproval{answer: make(chan ruling, 1)}
	var err error
	if doErr := a.s.do(ctx, func() { err = a.s.decide(pending, call, what) }); doErr != nil || err != nil {
		return ruling{decision: api.DecisionDeny}, errors.Join(doErr, err)
	}
	select {
	case answer := <-pending.answer:
		return answer, nil
	case <-ctx.Done():
		return a.withdraw(ctx, pending)
	}
}

// withdraw takes back an approval whose turn ends; an answer that was faster counts.
func (a asker) withdraw(ctx context.Context, pending *pendingApproval) (_ ruling, err error) {
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	suspended := false
	doErr := a.s.ask(detached, func() {
		_, waits := a.s.pending[pending.approval.ID]
		if suspended = waits && a.s.closing && !a.s.cancelling() && !a.s.delegated(); suspended {
			delete(a.s.pending, pending.approval.ID)
			return
		}
		_, _, err = a.s.resolve(pending.approval.ID, api.DecisionCancelled, "host", "") // an answer that was faster counts
	})
	if suspended {
		return ruling{}, agent.ErrSuspended
	}
	return ruling{decision: api.DecisionCancelled}, errors.Join(doErr, err, context.Cause(ctx))
}

// cancelling tells whether somebody cancelled the running turn.
func (s *Session) cancelling() bool { return s.live.Turn != nil && s.live.Turn.Cancelling }

// decide judges a call, and asks people where that is the verdict.
func (s *Session) decide(pending *pendingApproval, call agent.Call, what agent.Description) error {
	request := s.request(call, what)
	var kept waitingCall // from before a restart
	if s.turn != nil && s.turn.resumed {
		if _, denial, denied := deniedCall(s.log.Tree(), call.ID); denied {
			pending.answer <- denial
			return nil
		}
		if kept = openApprovals(s.log.Tree())[call.ID]; kept.ID != "" && kept.Title != what.Title {
			what.Title, what.Insist = kept.Title, true
		}
	}
	pending.request, pending.insist = request, what.Insist
	verdict, mode := s.judge(pending)
	allowAll := s.turn != nil && s.turn.prompt.AllowAll
	if verdict.Action != gate.Ask || allowAll {
		if err := s.settleKept(kept, verdict, mode); err != nil {
			return err
		}
	}
	switch {
	case verdict.Action == gate.Deny:
		pending.answer <- ruling{decision: api.DecisionDeny, text: agent.TextForbidden + verdict.Reason + "."}
		return nil
	case verdict.Action == gate.Allow, allowAll:
		pending.answer <- ruling{decision: api.DecisionAllow}
		return nil
	}
	pending.approval = newApproval(call, what, request, verdict)
	if s.turn != nil {
		pending.approval.TurnID = s.turn.id
	}
	if kept.ID != "" {
		if kept.Shown == pending.approval.Shown {
			pending.approval.ID, pending.approval.CreatedAt = kept.ID, kept.CreatedAt
			s.show(pending)
			return nil
		}
		if err := s.close(kept.ID, call.ID); err != nil {
			return err
		}
	}
	if err := s.keepPending(pending.approval); err != nil {
		return err
	}
	s.show(pending)
	return nil
}

// judge says what the rules and the mode make of a call now, and which mode that is.
func (s *Session) judge(pending *pendingApproval) (gate.Verdict, api.Mode) {
	policy := s.policy()
	verdict := policy.Judge(pending.request)
	if pending.insist && verdict.Action == gate.Allow && policy.Mode != api.ModeBypass {
		verdict.Action, verdict.Reason, verdict.Propose = gate.Ask, "the same call gave the same result several times", nil
	}
	return verdict, policy.Mode
}

func (s *Session) show(pending *pendingApproval) {
	s.pending[pending.approval.ID] = pending
	s.publish(api.ApprovalRequested{Approval: pending.approval})
	s.touch()
	s.attend()
}

func newApproval(call agent.Call, what agent.Description, request gate.Request, verdict gate.Verdict) api.Approval {
	options := []api.Decision{api.DecisionAllow, api.DecisionAlways, api.DecisionDeny, api.DecisionStop}
	if len(verdict.Propose) == 0 {
		options = slices.Delete(options, 1, 2)
	}
	return api.Approval{
		ID: "apr_" + randomHex(8), ToolCallID: call.ID, ToolName: call.Name,
		Title: what.Title, Detail: what.Detail, Cwd: call.Cwd, CreatedAt: nowMillis(),
		Command: request.Command, Paths: request.Paths, IsDiff: what.IsDiff, Reason: verdict.Reason, Risk: &verdict.Risk,
		ProposedRules: verdict.Propose, Options: options, Shown: fingerprint(call, what),
	}
}

// fingerprint is the hash of all that a person is shown of a call, and of the call.
func fingerprint(call agent.Call, what agent.Description) string {
	encoded, err := json.Marshal([]any{call.Name, string(call.Arguments), call.Cwd, what})
	if err != nil { // texts always encode
		return randomHex(sha256.Size)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// maxKeptDetail bounds what a log keeps of the content of a call, in bytes: the
// message that made the call has all of it.
const maxKeptDetail = 64 << 10

// keepPending puts on disk that a call waits, before anybody hears of it.
func (s *Session) keepPending(approval api.Approval) error {
	approval.Detail = approval.Detail[:min(len(approval.Detail), maxKeptDetail)]
	approval.Detail = strings.ToValidUTF8(approval.Detail, "")
	shown, err := session.Encode(approval)
	if err != nil {
		return fmt.Errorf("encoding an approval: %w", err)
	}
	record := session.ApprovalRecord{ApprovalID: approval.ID, ToolCallID: approval.ToolCallID, Request: shown}
	if s.turn != nil {
		prompt := s.turn.prompt
		prompt.Text = ""
		record.Prompt = &prompt
	}
	return s.keepCustom(session.CustomApproval, record, "")
}

// close notes that an approval is no longer there to be answered.
func (s *Session) close(id, callID string) error {
	return s.keepCustom(session.CustomApproval, session.ApprovalRecord{
		ApprovalID: id, ToolCallID: callID, Decision: string(api.DecisionCancelled), DecidedBy: "host",
	}, "")
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
	record, err := s.decided(r.ApprovalID)
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
		record, err := s.decided(id)
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
