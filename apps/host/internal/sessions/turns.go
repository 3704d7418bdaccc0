package sessions

import (
	"cmp"
	"context"

	"github.com/scorel/scorel/apps/host/internal/observe"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// hostID is the client of prompts that no client sent: tasks for subagents, and turns that a
// background job starts.
const hostID = "host"

// turns holds the running turn of a session and the modes that bound it. Every part that acts
// for the turn reads it. The session's goroutine owns it.
type turns struct {
	*core
	running *runningTurn // nil between turns
	// lowest is the lowest of the modes that prompts were bound to. A turn that no one requested
	// for runs in no higher mode, since any of these prompts may be its cause.
	lowest api.Mode
}

// runningTurn is the turn that runs.
type runningTurn struct {
	id     string
	prompt session.QueuedPrompt
	cancel context.CancelFunc
	step   *observe.Step
	// limits are those of the agent that the session runs as; nil if there are none, or if
	// they are not known yet.
	limits *session.ChildRecord
	// asking: another program works on the turn and must ask.
	asking bool
	// tighten is closed when another program that need not ask has to from now on; nil if none
	// works on the turn.
	tighten chan struct{}
	// resumed: the turn waited for an approval or an answer when the host ended.
	resumed bool
	// kept are the approvals that waited then, by the id of their call. Each is removed when
	// its call is judged again: from then on the session itself knows it.
	kept map[string]read.WaitingCall
}

// inSetup reports whether the turn waited with the setup of its worktree, before it had begun.
func (t *runningTurn) inSetup() bool {
	_, waits := t.kept[setupCall+t.id]
	return waits
}

// asksAgain reports whether the turn is going to ask for an approval that waited before. t may
// be nil.
func (t *runningTurn) asksAgain(approvalID string) bool {
	if t == nil {
		return false
	}
	for _, call := range t.kept {
		if call.ID == approvalID {
			return true
		}
	}
	return false
}

func newTurnID() string { return "turn_" + randomHex(8) }

// start makes a turn the running one and announces it. The context ends when it is
// canceled.
func (t *turns) start(turnID string, prompt session.QueuedPrompt, resumed bool) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	t.running = &runningTurn{id: turnID, prompt: prompt, cancel: cancel, resumed: resumed}
	if resumed {
		t.running.kept = read.OpenApprovals(t.log.Tree())
	}
	t.lower(prompt.MaxMode)
	t.publish(api.TurnStarted{Turn: api.Turn{TurnID: turnID, ClientKey: prompt.ClientKey, StartedAt: nowMillis()}})
	t.updateSummary()
	return ctx
}

// canceling reports whether someone canceled the running turn.
func (t *turns) canceling() bool { return t.live.Turn != nil && t.live.Turn.Cancelling }

// announceCancel announces once that the running turn is going to end.
func (t *turns) announceCancel() {
	if !t.canceling() {
		t.publish(api.TurnCancelling{TurnID: t.running.id})
	}
}

// cancel cancels the running turn.
func (t *turns) cancel() {
	t.announceCancel()
	t.running.cancel()
}

// promptOfTurn returns the prompt of the running turn as a record of something that waits
// keeps it, without its text; nil between turns.
func (t *turns) promptOfTurn() *session.QueuedPrompt {
	if t.running == nil {
		return nil
	}
	prompt := t.running.prompt
	prompt.Text, prompt.Content = "", nil
	return &prompt
}

// isTask reports whether a prompt is the task that a subagent was created for.
func (t *turns) isTask(prompt session.QueuedPrompt) bool {
	return t.parent != "" && prompt.ClientID == hostID
}

// taskRuns reports whether the running turn is a task, which ends with the turn of the parent.
func (t *turns) taskRuns() bool { return t.running != nil && t.isTask(t.running.prompt) }

// lower notes the highest mode that a prompt may run in; "" is none.
func (t *turns) lower(most string) {
	switch {
	case most == "":
	case t.lowest == "":
		t.lowest = api.Mode(most)
	default:
		t.lowest = permission.Lower(t.lowest, api.Mode(most))
	}
}

// join bounds the running turn by the rights of a steering prompt's sender. A sender who
// cannot answer approvals does not get those that were given before.
func (t *turns) join(steer session.QueuedPrompt) {
	if t.running == nil || steer.MaxMode == "" {
		return
	}
	t.lower(steer.MaxMode)
	most, prompt := api.Mode(steer.MaxMode), &t.running.prompt
	prompt.MaxMode = string(permission.Lower(most, cmp.Or(api.Mode(prompt.MaxMode), api.ModeBypass)))
	if permission.Lower(most, api.ModeAsk) == most {
		prompt.AllowAll, prompt.AllowRules = false, nil
	}
}

// restore reads from the log which modes bound the prompts of the session.
func (t *turns) restore() {
	for _, mode := range read.Bounds(t.log.Tree()) {
		t.lower(string(modeOf(mode)))
	}
}
