// Package process collects the progress that long operations report to people: commands,
// scripts of skills, calls of MCP servers, and subagents. No model sees any of it.
//
// A tool starts an operation with Begin, reports progress with Report and ends it with End.
// The Sink is in the context of the call; without one these functions do nothing. An
// operation has exactly one last event, no matter who ends it first.
//
// The session owns the Sink: it waits for Ready, and Take returns the state of each
// operation that changed, at most one per operation, and the records of those that ended.
// Reporting never blocks on the session. Each operation has its own log in the folder of
// Logs, which people read by reference.
//
// Reports are bounded and cleaned first: control characters are removed, long strings are
// truncated, and secrets, recognized by their names, are redacted.
package process

import (
	"context"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// These types are shared with the session log.
type (
	Event  = session.ProcessEvent
	Line   = session.ProcessLine
	Record = session.ProcessRecord
	Target = session.ProcessTarget
	Status = session.ProcessStatus
)

// Start describes a new operation.
type Start struct {
	// ToolCallID is the call that the operation belongs to; "" means that of the parent
	// operation.
	ToolCallID string
	TargetType Target
	Source     string // name of the tool, skill, server or agent
	// ToolName is the tool whose call the operation belongs to; "" means that of the parent
	// operation.
	ToolName string
	TaskID   string
	Stage    string
	Message  string
	// Status is session.ProcessQueued for an operation that has to wait; "" means running.
	Status Status
	// First has the level, detail, amounts and payload of the first event. Its other fields are
	// those above.
	First Event
	// Quiet is how long an operation without a report stays hidden. An operation that ends
	// earlier is never shown, unless Show is called.
	Quiet time.Duration
}

type (
	sinkKey   struct{}
	parentKey struct{}
)

// WithSink returns a context in which operations report to sink.
func WithSink(ctx context.Context, sink *Sink) context.Context {
	return context.WithValue(ctx, sinkKey{}, sink)
}

// Begin starts an operation. Operations started with the returned context become its parts.
// Without a sink the operation is nil, and its methods do nothing. The caller must call
// End.
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
