package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// shownAfter is how long a call runs without a progress notification before people see it.
const shownAfter = time.Second

// operations are the visible calls of one server, by the token in its notifications.
type operations struct {
	mu  sync.Mutex
	all map[string]*process.Operation
}

// begin starts the operation of a call, and asks the server for progress notifications. It
// returns nil if there are no listeners.
func (o *operations) begin(ctx context.Context, call agent.Call, t remoteTool, params *sdk.CallToolParams) *process.Operation {
	_, op := process.Begin(ctx, process.Start{
		ToolCallID: call.ID, TargetType: session.ProcessMCP, Source: t.server.spec.name, ToolName: call.Name, Stage: "call", Message: t.remote, Quiet: shownAfter,
	})
	if op == nil {
		return nil
	}
	params.SetProgressToken(op.ID())
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string]*process.Operation{}
	}
	o.all[op.ID()] = op
	return op
}

// ending is how a call ended.
type ending struct {
	status process.Status
	event  process.Event
}

func (o *operations) end(op *process.Operation, e ending) {
	op.End(e.status, e.event)
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, op.ID())
}

// callEnd returns how a call ended. limited is ctx with the time limit of the call.
func callEnd(ctx, limited context.Context, result *sdk.CallToolResult, err error) ending {
	failed := func(stage, message string) ending {
		return ending{session.ProcessFailed, process.Event{Stage: stage, Message: message}}
	}
	switch {
	case err == nil && result.IsError:
		return failed("result", "The server reported a failure.")
	case err == nil:
		return ending{session.ProcessCompleted, process.Event{Stage: "result", Message: "The server responded."}}
	case ctx.Err() != nil:
		return ending{session.ProcessCancelled, process.Event{Stage: "cancelled", Message: "The call was canceled."}}
	case limited.Err() != nil:
		return failed("timeout", "The server did not respond in time.")
	case serverEnded(err):
		return failed("exit", "The server exited during the call.")
	}
	return failed("output", "The server refused the call, or its response is invalid: "+err.Error())
}

// progress handles a notification of the server. A notification for a call that is over, or
// for none, changes nothing.
func (o *operations) progress(_ context.Context, notice *sdk.ProgressNotificationClientRequest) {
	p := notice.Params
	token, _ := p.ProgressToken.(string)
	o.mu.Lock()
	op := o.all[token]
	o.mu.Unlock()
	e := process.Event{Stage: "progress", Message: p.Message, Current: &p.Progress}
	if p.Total > 0 {
		e.Total = &p.Total
	}
	op.Report(e)
}
