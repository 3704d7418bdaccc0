package crew

import (
	"context"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// batch is the tasks of one call. The goroutine of the call owns it; workers reach
// only updates, caller and parent.
type batch struct {
	team     *Team
	parent   *sessions.Session
	caller   sessions.Caller
	callID   string
	children []api.CrewChild // in the order of the tasks
	reports  []tool.Report   // in the same order
	workers  []*worker       // of those tasks that have a session
	updates  chan update
}

// update is what a worker tells of its task. text is the report, with a state that
// has ended.
type update struct {
	index     int
	state     session.ChildState
	errorText string
	text      string
	doing     string
	approvals []api.Approval
}

// run works on the tasks and returns when all have ended. An error means that none
// began.
func (b *batch) run(ctx context.Context) error {
	shown := api.CrewBatch{ToolCallID: b.callID, EntryID: b.caller.EntryID, StartedAt: time.Now().UnixMilli(), Children: b.snapshot()}
	keep, cancel := detached(ctx)
	err := b.parent.BeginCrew(keep, b.caller.TurnID, shown)
	cancel()
	if err != nil {
		return plain(err)
	}
	under, whole := b.operation(ctx)
	var working sync.WaitGroup
	for _, w := range b.workers {
		w.ticket = b.team.slots.queue(w.task.Agent)
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
	if err := b.parent.EndCrew(keep, b.caller.TurnID, shown); err != nil {
		b.team.orchestrator.options.Logger.Error("noting how agents ended", "session", b.parent.ID(), "error", err)
	}
	return nil
}

// take notes an update and tells who watches.
func (b *batch) take(ctx context.Context, u update) {
	child, now := &b.children[u.index], time.Now().UnixMilli()
	child.State, child.Error, child.Doing, child.Approvals = u.state, u.errorText, u.doing, u.approvals
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
	if err := b.parent.UpdateCrew(keep, b.callID, u.index, *child); err != nil {
		b.team.orchestrator.options.Logger.Warn("telling how an agent stands", "session", b.parent.ID(), "error", err)
	}
}

// snapshot is a copy that may be given away.
func (b *batch) snapshot() []api.CrewChild { return append([]api.CrewChild{}, b.children...) }
