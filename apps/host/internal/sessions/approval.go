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
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
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
	var kept read.WaitingCall // from before a restart
	if s.turn != nil && s.turn.resumed {
		if _, denial, denied := read.DeniedCall(s.log.Tree(), call.ID); denied {
			pending.answer <- rulingOf(api.Decision(denial.Decision), denial.Feedback)
			return nil
		}
		kept = s.turn.kept[call.ID]
		delete(s.turn.kept, call.ID)
		if kept.ID != "" && kept.Title != what.Title {
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
