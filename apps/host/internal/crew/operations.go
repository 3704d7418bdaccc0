package crew

import (
	"context"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// operation begins what people are told of the tasks of a call as a whole. Those of
// its workers that begin under the context are its parts.
func (b *batch) operation(ctx context.Context) (context.Context, *process.Operation) {
	return process.Begin(ctx, process.Start{
		ToolCallID: b.callID, TargetType: session.ProcessAgent, Source: "crew", Stage: "delegate",
		Message: fmt.Sprintf("%d of %d tasks", len(b.workers), len(b.children)),
	})
}

// operation begins what people are told of one task.
func (w *worker) operation(ctx context.Context) *process.Operation {
	_, op := process.Begin(ctx, process.Start{
		ToolCallID: w.batch.callID, TargetType: session.ProcessAgent, Source: w.task.Agent, TaskID: w.child.ID(),
		Stage: "wait", Message: w.task.Title, Status: session.ProcessQueued,
	})
	return op
}

// report tells people of an update.
func report(op *process.Operation, u update) {
	e := process.Event{Message: u.errorText}
	switch u.state {
	case session.ChildCompleted:
		e.Stage, e.Message = "report", "It gave its report."
		op.End(session.ProcessCompleted, e)
	case session.ChildFailed:
		e.Stage = "failed"
		op.End(session.ProcessFailed, e)
	case session.ChildCancelled:
		e.Stage = "cancelled"
		op.End(session.ProcessCancelled, e)
	default:
		e.Stage, e.Message = "work", "It works."
		switch {
		case len(u.approvals) > 0:
			e.Stage, e.Message = "ask", "It waits for an approval."
		case u.doing != "":
			e.Stage, e.Message = "tool", u.doing
		}
		op.Report(e)
	}
}

// endOperation tells how the tasks ended as a whole.
func (b *batch) endOperation(ctx context.Context, op *process.Operation) {
	completed := 0
	for _, child := range b.children {
		if child.State == session.ChildCompleted {
			completed++
		}
	}
	status := session.ProcessCompleted
	switch {
	case ctx.Err() != nil:
		status = session.ProcessCancelled
	case completed == 0:
		status = session.ProcessFailed
	}
	op.End(status, process.Event{Stage: "end", Message: fmt.Sprintf("%d of %d tasks were completed.", completed, len(b.children))})
}
