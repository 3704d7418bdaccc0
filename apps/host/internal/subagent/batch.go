package subagent

import (
	"context"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// batch holds the tasks of one call. The goroutine of the call owns it; workers access only
// updates, caller and parent.
type batch struct {
	team     *Team
	parent   *sessions.Session
	caller   sessions.Caller
	callID   string
	tool     string              // tool name
	children []api.SubagentChild // in the order of the tasks
	reports  []tool.Report       // in the same order as children
	workers  []*worker           // only for tasks that have a session
	updates  chan update
}

// update is a worker's report on its task. text is the final report, set when state is
// final.
type update struct {
	index     int
	state     session.ChildState
	errorText string
	text      string
	doing     string
	approvals []api.Approval
	decided   []api.ApprovalDecision
	work      session.SubagentWork
}

// run executes the tasks and returns when all have ended. An error means that none started.
func (b *batch) run(ctx context.Context) error {
	shown := api.SubagentBatch{ToolCallID: b.callID, EntryID: b.caller.EntryID, StartedAt: time.Now().UnixMilli(), Children: b.snapshot()}
	keep, cancel := detached(ctx)
	err := b.parent.BeginSubagents(keep, b.caller.TurnID, shown)
	cancel()
	if err != nil {
		return plain(err)
	}
	under, whole := b.operation(ctx)
	var working sync.WaitGroup
	for _, w := range b.workers {
		w.ticket = b.team.slots.queue(w.task.Agent, w.most)
	}
	for _, w := range b.workers {
		working.Go(func() { w.run(under) })
	}
	for left := len(b.workers); left > 0; {
		u := <-b.updates
		b.take(ctx, u)
		if u.state.Ended() {
			left--
		}
	}
	working.Wait()
	b.endOperation(ctx, whole)
	shown.Children = b.snapshot()
	keep, cancel = detached(ctx)
	defer cancel()
	if err := b.parent.EndSubagents(keep, b.caller.TurnID, shown); err != nil {
		b.team.orchestrator.options.Logger.Error("recording the outcomes of subagents", "session", b.parent.ID(), "error", err)
	}
	return nil
}

// take applies an update and notifies watchers.
func (b *batch) take(ctx context.Context, u update) {
	child, now := &b.children[u.index], time.Now().UnixMilli()
	child.State, child.Error, child.Doing, child.Approvals = u.state, u.errorText, u.doing, u.approvals
	if len(u.decided) > 0 {
		child.Decided = u.decided
	}
	if u.work.ToolCallCount > 0 || u.work.Usage != nil || u.work.AssistantMessageID != "" {
		child.SubagentWork = u.work
	}
	if u.state == session.ChildRunning && child.StartedAt == 0 {
		child.StartedAt = now
	}
	if u.state.Ended() {
		child.EndedAt = now
		report := &b.reports[u.index]
		report.State, report.Text, report.Error = u.state, u.text, u.errorText
	}
	keep, cancel := detached(ctx)
	defer cancel()
	if err := b.parent.UpdateSubagents(keep, b.callID, u.index, *child); err != nil {
		b.team.orchestrator.options.Logger.Warn("publishing the state of a subagent", "session", b.parent.ID(), "error", err)
	}
}

// snapshot returns a copy that is safe to hand out.
func (b *batch) snapshot() []api.SubagentChild { return append([]api.SubagentChild{}, b.children...) }
