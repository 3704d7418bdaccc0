// Package process gathers what long operations tell people about their progress:
// commands, scripts of skills, calls of MCP servers, subagents. Nothing of it is
// for a model.
//
// A tool begins an operation with Begin, reports with Report and ends it with End.
// The Sink is in the context of the call; without one all of that does nothing.
// An operation has exactly one last event, whoever ends it first.
//
// The session owns the Sink: it waits for Ready, and Take gives it the state of
// each operation that changed, never more than one per operation, and the records
// of those that ended. Reporting never blocks on the session. Each operation has a
// log of its own below the folder of Logs, which people read by a reference.
//
// What is reported is bounded and cleaned first: control characters are taken out,
// long strings are cut, and what is called a secret is not repeated.
package process

import (
	"context"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// The vocabulary is that of the session log.
type (
	Event  = session.ProcessEvent
	Line   = session.ProcessLine
	Record = session.ProcessRecord
	Target = session.ProcessTarget
	Status = session.ProcessStatus
)

// Start describes an operation at its beginning.
type Start struct {
	// ToolCallID is the call that it serves; "" is that of the operation above it.
	ToolCallID string
	TargetType Target
	Source     string // the tool, skill, server or agent
	TaskID     string
	Stage      string
	Message    string
	// Status is session.ProcessQueued for one that has to wait; "" is running.
	Status Status
	// Quiet is how long an operation without a report stays unseen. One that ends
	// before is never heard of, unless it is shown.
	Quiet time.Duration
}

type (
	sinkKey   struct{}
	parentKey struct{}
)

// WithSink lets operations that begin under the context report to sink.
func WithSink(ctx context.Context, sink *Sink) context.Context {
	return context.WithValue(ctx, sinkKey{}, sink)
}

// Begin begins an operation. Those that begin under the returned context are its
// parts. The operation is nil where nobody listens; its methods do nothing then.
// Who begins one ends it.
func Begin(ctx context.Context, start Start) (context.Context, *Operation) {
	sink, _ := ctx.Value(sinkKey{}).(*Sink)
	if sink == nil {
		return ctx, nil
	}
	parent, _ := ctx.Value(parentKey{}).(*Operation)
	o := sink.begin(parent, start)
	if o == nil {
		return ctx, nil
	}
	return context.WithValue(ctx, parentKey{}, o), o
}
