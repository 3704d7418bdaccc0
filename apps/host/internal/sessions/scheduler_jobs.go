package sessions

import (
	"cmp"
	"context"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// checkCommand refuses a /compact that has nothing to do, where that is known already.
func (h *scheduler) checkCommand(prompt session.QueuedPrompt) error {
	focus, ok := h.compactPrompt(prompt)
	switch {
	case !ok:
		return nil
	case len(focus) > api.MaxFocus:
		return api.Errorf(api.KindTooLarge, "the instructions of /compact have %d bytes, the limit is %d", len(focus), api.MaxFocus)
	case h.busy() || len(h.live.Queue) > 0:
		return nil
	}
	if what := h.log.Damage(); what != "" {
		return clientError(&store.DamageError{What: what})
	}
	if _, ok := compact.Prepare(h.log.Tree(), h.summaries.keepTokens()); !ok {
		return h.summaries.nothingToCompact()
	}
	return nil
}

// startCommand does what a waiting prompt asks of the host itself, and shows it to clients as
// a turn. The prompt stays in the queue until it is done.
func (h *scheduler) startCommand(prompt session.QueuedPrompt, focus string) {
	turnID := newTurnID()
	h.publish(api.TurnStarted{Turn: api.Turn{TurnID: turnID, ClientKey: prompt.ClientKey, StartedAt: nowMillis()}})
	work := runningSummary{kind: api.WorkCompaction, key: prompt.ClientKey, turnID: turnID}
	plan, ok := compact.Prepare(h.log.Tree(), h.summaries.keepTokens())
	if !ok {
		h.endCommand(&work, api.WorkEnded{Error: h.summaries.nothingToCompact().Error()})
		h.next(context.Background())
		return
	}
	mark := store.Mark{ClientID: prompt.ClientID, ClientKey: prompt.ClientKey, TurnID: turnID}
	h.summaries.start(work, func(most int) string { return plan.Request(focus, most) }, func(summary string) error {
		return h.summaries.appendCompaction(mark, plan, summary)
	})
}

// summaryEnded starts what comes after a summary.
func (h *scheduler) summaryEnded(work *runningSummary, ended api.WorkEnded) {
	if work.turnID != "" {
		h.endCommand(work, ended)
	}
	h.next(context.Background())
}

// endCommand takes the prompt out of the queue and publishes how it ended.
func (h *scheduler) endCommand(work *runningSummary, ended api.WorkEnded) {
	if h.closing { // the prompt waits for the next start
		return
	}
	event := api.TurnEnded{TurnID: work.turnID, ClientKey: work.key, StopReason: session.StopEnd}
	switch {
	case work.canceled:
		event.StopReason = session.StopAborted
	case ended.Error != "":
		event.StopReason, event.Error = session.StopError, ended.Error
	}
	if event.StopReason == session.StopEnd { // its key is in the log
		h.prompts.leaveOne(work.key)
	} else {
		h.prompts.leaveUndone(work.key)
	}
	h.publish(event)
	h.updateSummary()
}

// startForJobs starts a turn that no person asked for, if a background job wants one and
// nothing else is to be done.
func (h *scheduler) startForJobs(ctx context.Context) {
	if !h.notes.wantTurn() || h.busy() || h.resting() {
		return
	}
	if err := h.open(ctx); err != nil {
		h.logger.Error("opening a session for a job that ended", "session", h.id, "error", err)
		return
	}
	if h.busy() || len(h.live.Queue) > 0 || h.log.Damage() != "" || h.summaries.startIfDue() {
		return // the end of what runs comes back here
	}
	if turnID := newTurnID(); h.notes.writeForTurn(turnID) {
		h.beginForJobs(turnID)
	}
}

func (h *scheduler) beginForJobs(turnID string) {
	h.begin(turnID, session.QueuedPrompt{ClientID: hostID, MaxMode: string(h.turns.lowest)}, false)
}

// resumeForJobs begins the turn whose note is in the log and that had done nothing yet when
// the host ended. That of a subagent's session ended with its task.
func (h *scheduler) resumeForJobs() bool {
	turnID := h.digest.Owed
	if h.turns.running != nil || turnID == "" || h.parent != "" {
		return false
	}
	if _, err := h.notes.writeAll(turnID); err != nil { // the model is notified at the next step
		h.logger.Error("notifying the agent of what happened in the meantime", "session", h.id, "error", err)
	}
	h.beginForJobs(turnID)
	return true
}

// resumeTurn resumes a turn that waited for an approval or an answer when the host ended, or
// whose call had been denied or answered without a result yet. That call had not started, and
// neither had those after it, so nothing runs twice. An answered question changes nothing. A turn
// that waited with the setup of its worktree had not begun.
func (h *scheduler) resumeTurn() bool {
	tree := h.log.Tree()
	if h.turns.running != nil || !read.Interrupted(tree) || h.digest.Backend != "" { // another program ended with its turn
		return false
	}
	turnID, calls := read.OpenCalls(tree)
	waiting := setupCall + turnID // before it called anything
	if len(calls) > 0 {
		waiting = calls[0].ID
	}
	if len(calls) == 0 && read.OpenApprovals(tree)[waiting].ID == "" {
		return false
	}
	turnID, prompt, ok := read.WaitingTurn(tree, waiting)
	if !ok || h.turns.isTask(prompt) {
		return false
	}
	if read.ArrivedSince(tree, waiting) { // what was allowed on another host does not count here
		prompt = unallowed(prompt)
	}
	h.begin(turnID, prompt, true)
	return true
}

// endInterrupted gives every call of a turn that was cut off its result, and then records the
// end of the turn. A call may have run in part, so none is made again.
func (h *scheduler) endInterrupted() error {
	ended := cmp.Or(read.InterruptedTurn(h.log.Tree()), h.digest.Owed)
	turnID, calls := read.OpenCalls(h.log.Tree())
	for _, call := range calls {
		failed, text := true, agent.TextInterrupted
		if h.deps.Stopped != nil && h.deps.Stopped(h.id, call.ID) {
			text = agent.TextStopped
		}
		_, err := h.appendMessage(store.Mark{TurnID: turnID}, session.Message{
			Role: session.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name, IsError: &failed,
			Content: session.Content{session.Text(text)}, Timestamp: nowMillis(),
		})
		if err != nil {
			return err
		}
	}
	return h.appendCustom(session.CustomTurn, session.TurnRecord{
		TurnID:     ended,
		StopReason: session.StopError,
		Error:      "The host stopped during this turn. Its work so far is kept; send a message to continue.",
	}, "")
}
