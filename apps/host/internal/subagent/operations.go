package subagent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// operation starts the operation that shows the tasks of a call as a whole. Operations of
// its workers that start under the returned context become its parts.
func (b *batch) operation(ctx context.Context) (context.Context, *process.Operation) {
	return process.Begin(ctx, process.Start{
		ToolCallID: b.callID, TargetType: session.ProcessAgent, Source: "crew", ToolName: b.tool, Stage: "delegate",
		Message: fmt.Sprintf("%d of %d tasks", len(b.workers), len(b.children)),
	})
}

// operation starts the operation that shows one task. The subagent's own operations become
// its parts, under the returned context.
func (w *worker) operation(ctx context.Context) (context.Context, *process.Operation) {
	return process.Begin(ctx, process.Start{
		ToolCallID: w.batch.callID, TargetType: session.ProcessAgent, Source: w.task.Agent, TaskID: w.child.ID(),
		Stage: "wait", Message: w.task.Title, Status: session.ProcessQueued,
	})
}

// report adds an update to the operation.
func report(op *process.Operation, u update) {
	e := process.Event{Message: u.errorText, Payload: workPayload(u)}
	switch u.state {
	case session.ChildCompleted:
		e.Stage, e.Message = "report", cmp.Or(u.work.Summary, "Reported.")
		op.End(session.ProcessCompleted, e)
	case session.ChildFailed:
		e.Stage = "failed"
		op.End(session.ProcessFailed, e)
	case session.ChildCancelled:
		e.Stage = "cancelled"
		op.End(session.ProcessCancelled, e)
	default:
		e.Stage, e.Message = "work", "Working."
		switch {
		case len(u.approvals) > 0:
			e.Stage, e.Message = "ask", "Waiting for an approval."
		case u.doing != "":
			e.Stage, e.Message = "tool", u.doing
		}
		op.Report(e)
	}
}

// workPayload encodes the outcome of a task for programs.
func workPayload(u update) json.RawMessage {
	if !u.state.Ended() {
		return nil
	}
	payload, err := session.Encode(u.work)
	if err != nil {
		return nil // cannot happen: every field can be encoded
	}
	return payload
}

// endOperation reports how the tasks ended as a whole.
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
	op.End(status, process.Event{Stage: "end", Message: fmt.Sprintf("%d of %d tasks completed.", completed, len(b.children))})
}
