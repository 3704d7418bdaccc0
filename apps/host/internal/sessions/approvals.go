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
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/observe"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/pending"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// approvals asks people about the calls that the rules do not decide, and holds those that
// wait. The session's goroutine owns it.
type approvals struct {
	*core
	turns   *turns
	judge   *judge
	waiting pending.Set[approvalRequest, ruling]
}

// approvalRequest is a call that waits for a person.
type approvalRequest struct {
	approval api.Approval
	request  permission.Request // as it was judged
	insist   string             // why a person is asked even if the rules allow the call; "" if not
	hooked   string             // why hooks have a person asked; "" if they do not
	known    bool               // it waited before a restart, and shows the same
	// signature is that of the answer, if it has one.
	signature *session.AnswerSignature
	// unattended: the answer is a denial by a client that could ask no one.
	unattended bool
}

// pendingApproval is an approvalRequest in its set.
type pendingApproval = pending.Request[approvalRequest, ruling]

// gate is the side of approvals that the goroutine of the turn calls. It implements
// agent.Gate and agent.Follower.
type gate struct {
	*approvals
	hooks *turnHooks
}

// maxChanges is how often a call is asked for again because what it would do has
// changed under the question.
const maxChanges = 5

// Ask implements agent.Gate. What a person allowed is compared with what the call
// would do now: an answer counts for what was shown and nothing else.
func (g gate) Ask(ctx context.Context, call agent.Call, what agent.Description) (api.Decision, error) {
	refusal, hooked, err := g.hooks.before(ctx, call, what)
	if refusal != nil && err == nil {
		err = refusal
	}
	if err != nil {
		return api.DecisionDeny, err
	}
	for range maxChanges {
		r, err := g.once(ctx, call, what, hooked)
		if err != nil || r.decision != api.DecisionAllow {
			if err == nil && r.text != "" {
				err = &agent.Refusal{Text: r.text}
			}
			return r.decision, err
		}
		now := what
		// The call of another program is none of the own tool with that name.
		if tool := g.judge.tool(call.Name); r.asked && tool != nil && len(what.Choices) == 0 {
			now = tool.Describe(call)
			if what.Insist || strings.HasPrefix(call.ID, setupCall) { // the tool did not write the title
				now.Title, now.Insist = what.Title, what.Insist
			}
		}
		if fingerprint(call, now) == fingerprint(call, what) {
			return api.DecisionAllow, nil
		}
		what = now
	}
	return api.DecisionDeny, &agent.Refusal{Text: "Not executed: the effect of this call changed each time it was shown to the user. Look at the files again first."}
}

// once judges the call, and waits for the first answer if people are asked.
func (g gate) once(ctx context.Context, call agent.Call, what agent.Description, hooked string) (ruling, error) {
	request := pending.New[approvalRequest, ruling]()
	request.Value.hooked = hooked
	var err error
	stop := func() {}
	if doErr := g.do(ctx, func() {
		err = g.decide(request, call, what)
		if id := request.Value.approval.ID; err == nil && id != "" && !request.Value.known {
			stop = g.hooks.waiting(g.hooks.about(call, what), func(reason string) error {
				_, _, err := g.resolve(id, api.DecisionDeny, hostID, reason)
				return err
			})
		}
	}); doErr != nil || err != nil {
		return ruling{decision: api.DecisionDeny}, errors.Join(doErr, err)
	}
	defer func() { stop() }()
	var step *observe.Step
	if request.Value.approval.ID != "" {
		_, step = observe.Start(ctx, observe.Approval)
	}
	answer, err := request.Wait(ctx, time.Time{})
	step.End(answerWord(answer, err), false)
	if err != nil {
		return g.withdraw(ctx, request)
	}
	return answer, nil
}

// withdraw takes back an approval whose turn ends. An answer that was faster counts.
func (g gate) withdraw(ctx context.Context, request *pendingApproval) (_ ruling, err error) {
	suspended := false
	doErr := g.ask(context.WithoutCancel(ctx), func() {
		id := request.Value.approval.ID
		if g.resting() && !g.turns.canceling() && !g.turns.taskRuns() {
			if _, suspended = g.waiting.Take(id); suspended {
				return
			}
		}
		_, _, err = g.resolve(id, api.DecisionCancelled, hostID, "")
	})
	if suspended {
		return ruling{}, agent.ErrSuspended
	}
	return ruling{decision: api.DecisionCancelled}, errors.Join(doErr, err, context.Cause(ctx))
}

// Follow implements agent.Follower. Every redirect of a call is judged by the rules and the
// mode as they are now. A prompt that allows everything allows redirects that would be asked
// for.
func (g gate) Follow(ctx context.Context, call agent.Call, from, to string) error {
	var verdict permission.Verdict
	err := g.do(ctx, func() {
		policy := g.judge.policy()
		if verdict = policy.Follow(call.Name, from, to); verdict.Action == permission.Deny && g.judge.allowsAll() {
			verdict = policy.Follow(call.Name, to, to)
		}
	})
	if err == nil && verdict.Action != permission.Allow {
		err = errors.New(verdict.Reason)
	}
	return err
}

// decide judges a call, and asks people if that is the verdict. Otherwise the request is
// answered at once.
func (a *approvals) decide(request *pendingApproval, call agent.Call, what agent.Description) error {
	var kept read.WaitingCall // from before a restart
	if turn := a.turns.running; turn != nil && turn.resumed {
		if _, denial, denied := read.DeniedCall(a.log.Tree(), call.ID); denied {
			request.Answer(rulingOf(denial))
			return nil
		}
		kept = turn.kept[call.ID]
		delete(turn.kept, call.ID)
		if kept.ID != "" && kept.Title != what.Title {
			what.Title, what.Insist = kept.Title, true
		}
	}
	request.Value.request, request.Value.insist = a.judge.request(call, what), whyInsist(what)
	verdict, mode := a.verdict(request)
	if verdict.Action != permission.Ask || a.judge.allowsAll() {
		if err := a.settleKept(kept, verdict, mode); err != nil {
			return err
		}
	}
	switch {
	case verdict.Action == permission.Deny:
		request.Answer(ruling{decision: api.DecisionDeny, text: agent.TextForbidden + verdict.Reason + "."})
		return nil
	case verdict.Action == permission.Allow, a.judge.allowsAll():
		request.Answer(ruling{decision: api.DecisionAllow})
		return nil
	}
	approval := newApproval(call, what, request.Value.request, verdict)
	if a.turns.running != nil {
		approval.TurnID = a.turns.running.id
	}
	return a.askFor(request, approval, kept)
}

// askFor stores that a call waits, and then shows it. A call that waited before a restart keeps
// its approval if that shows the same.
func (a *approvals) askFor(request *pendingApproval, approval api.Approval, kept read.WaitingCall) error {
	if kept.ID != "" && kept.Shown == approval.Shown {
		approval.ID, approval.CreatedAt = kept.ID, kept.CreatedAt
		request.Value.known = true
	} else {
		if err := a.store(approval); err != nil {
			return err
		}
		if kept.ID != "" { // only now: a call of which nothing waits in the log is not asked again
			if err := a.void(kept.ID, approval.ToolCallID); err != nil {
				return err
			}
		}
	}
	request.Value.approval = approval
	a.waiting.Add(approval.ID, request)
	a.publish(api.ApprovalRequested{Approval: approval})
	a.updateSummary()
	a.needsApproval(approval)
	a.updateAttendance()
	return nil
}

// verdict judges a call by the rules and the mode as they are now, and returns that mode.
func (a *approvals) verdict(request *pendingApproval) (permission.Verdict, api.Mode) {
	policy := a.judge.policy()
	verdict := policy.Judge(request.Value.request)
	if request.Value.insist != "" && verdict.Action == permission.Allow && policy.Mode != api.ModeBypass {
		verdict.Action, verdict.Reason, verdict.Propose = permission.Ask, request.Value.insist, nil
	}
	return hookedVerdict(verdict, request.Value.hooked), policy.Mode
}

// whyInsist returns why a person is asked about a call that rules may allow.
func whyInsist(what agent.Description) string {
	switch {
	case !what.Insist:
		return ""
	case len(what.Choices) > 0:
		return "a person decides about such a call of another agent"
	}
	return "the same call returned the same result several times"
}

// hookedVerdict is a verdict after hooks: what was allowed is asked for. No rule is proposed,
// since hooks would ask again.
func hookedVerdict(verdict permission.Verdict, why string) permission.Verdict {
	switch {
	case why == "" || verdict.Action == permission.Deny:
		return verdict
	case verdict.Action == permission.Allow || verdict.Reason == "":
		verdict.Reason = why
	default:
		verdict.Reason += "; " + why
	}
	verdict.Action, verdict.Propose, verdict.Rules, verdict.ByMode = permission.Ask, nil, nil, false
	return verdict
}

func newApproval(call agent.Call, what agent.Description, request permission.Request, verdict permission.Verdict) api.Approval {
	options := []api.Decision{api.DecisionAllow, api.DecisionAlways, api.DecisionDeny, api.DecisionStop}
	if len(verdict.Propose) == 0 {
		options = slices.Delete(options, 1, 2)
	}
	proposed := verdict.Propose
	if len(what.Choices) > 0 {
		proposed, options = nil, []api.Decision{api.DecisionStop}
		for i, choice := range what.Choices {
			options = slices.Insert(options, i, choice.Decision)
		}
	}
	paths := slices.Clone(request.Paths)
	for i := range paths {
		paths[i] = asSent(paths[i])
	}
	return api.Approval{
		ID: "apr_" + randomHex(8), ToolCallID: call.ID, ToolName: call.Name,
		Title: asSent(what.Title), Detail: asSent(what.Detail), Cwd: asSent(call.Cwd), CreatedAt: nowMillis(),
		Command: asSent(request.Command), Paths: paths, IsDiff: what.IsDiff, Reason: verdict.Reason, Risk: &verdict.Risk,
		ProposedRules: proposed, Options: options, Choices: what.Choices, Shown: fingerprint(call, what),
	}
}

// asSent is a text as JSON carries it, so that clients hash the same bytes.
func asSent(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// fingerprint is the hash of all that a person is shown of a call, and of the call.
func fingerprint(call agent.Call, what agent.Description) string {
	encoded, err := json.Marshal([]any{call.Name, string(call.Arguments), call.Cwd, what})
	if err != nil { // texts always encode
		return randomHex(sha256.Size)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// maxKeptDetail bounds how much of a call's content an approval's record keeps, in bytes: the
// message that made the call has all of it.
const maxKeptDetail = 64 << 10

// store writes to the log that a call waits, before the approval is published.
func (a *approvals) store(approval api.Approval) error {
	whole := approval.Detail
	approval.Detail = strings.ToValidUTF8(whole[:min(len(whole), maxKeptDetail)], "")
	shown, err := session.Encode(approval)
	if err != nil {
		return fmt.Errorf("encoding an approval: %w", err)
	}
	record := session.ApprovalRecord{
		ApprovalID: approval.ID, ToolCallID: approval.ToolCallID, Request: shown, Prompt: a.turns.promptOfTurn(),
	}
	if approval.Detail != whole {
		record.DetailHash = proof.DetailHash(whole)
	}
	return a.appendCustom(session.CustomApproval, record, "")
}

// void records that an approval cannot be answered any more.
func (a *approvals) void(id, callID string) error {
	a.settled(id)
	return a.appendCustom(session.CustomApproval, session.ApprovalRecord{
		ApprovalID: id, ToolCallID: callID, Decision: string(api.DecisionCancelled), DecidedBy: hostID,
	}, "")
}

// voidAll records that the approvals in the log belong to turns that do not continue.
func (a *approvals) voidAll() {
	for callID, w := range read.OpenApprovals(a.log.Tree()) {
		if err := a.void(w.ID, callID); err != nil {
			a.logger.Error("closing an approval", "session", a.id, "error", err)
		}
	}
}
