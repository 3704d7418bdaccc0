// Package observe counts and times what a host does: for Prometheus, and as spans for a trace. Labels
// and attributes are words of scorel and numbers, so neither shows what people or models write.
package observe

import (
	"context"
	"time"

	"github.com/scorel/scorel/packages/trace"
)

// Kind is a kind of step.
type Kind string

// The kinds. Each is the name of a span and of a metric.
const (
	Turn      Kind = "turn"
	ModelCall Kind = "model_call"
	ToolCall  Kind = "tool_call"
	Approval  Kind = "approval" // a call waits for a person
)

// Observer observes one host. A nil Observer observes nothing.
type Observer struct {
	tracer  *trace.Tracer // nil traces nothing
	metrics *Metrics      // nil counts nothing
}

// New returns an observer, or nil if there is neither a tracer nor metrics.
func New(tracer *trace.Tracer, metrics *Metrics) *Observer {
	if tracer == nil && metrics == nil {
		return nil
	}
	return &Observer{tracer, metrics}
}

// Step is a step that has begun. All methods may be called on nil.
type Step struct {
	observer *Observer
	kind     Kind
	began    time.Time
	span     *trace.Span
	prompt   *trace.Span // above a turn: it ends with the turn
}

type observerKey struct{}

// maxWaited bounds what a client can say about the time before a prompt arrived.
const maxWaited = 30 * 24 * time.Hour

// Prompt is a prompt that waits for its turn: the span of the program that sent it, or one of the
// host. The zero value belongs to no trace.
type Prompt struct {
	parent trace.Parent
	span   *trace.Span // of the host
}

// Prompt begins the span of a prompt whose client has sent none of its own. waited is how long it
// was on its way, as the client says.
func (o *Observer) Prompt(traceparent string, waited time.Duration) Prompt {
	if o == nil {
		return Prompt{}
	}
	if parent, ok := trace.ParseTraceparent(traceparent); ok {
		return Prompt{parent: parent}
	}
	waited = min(max(waited, 0), maxWaited)
	span := o.tracer.StartAt(trace.Parent{}, "prompt", time.Now().Add(-waited))
	span.Number("waited.client_ms", waited.Milliseconds())
	return Prompt{span.Self(), span}
}

// Begin begins the turn of a prompt. Steps that are started with the returned context belong to the
// turn.
func (o *Observer) Begin(ctx context.Context, prompt Prompt) (context.Context, *Step) {
	if o == nil {
		return ctx, nil
	}
	ctx, step := Start(trace.With(context.WithValue(ctx, observerKey{}, o), prompt.parent), Turn)
	step.prompt = prompt.span
	return ctx, step
}

// Start begins a step below the one that ctx belongs to.
func Start(ctx context.Context, kind Kind) (context.Context, *Step) {
	o, _ := ctx.Value(observerKey{}).(*Observer)
	if o == nil {
		return ctx, nil
	}
	step := &Step{observer: o, kind: kind, began: time.Now(), span: o.tracer.Start(trace.From(ctx), string(kind))}
	if step.span != nil {
		ctx = trace.With(ctx, step.span.Self())
	}
	return ctx, step
}

// Tokens records what a call of a model used.
func (s *Step) Tokens(input, output int64) {
	if s == nil {
		return
	}
	s.span.Number("tokens.input", input)
	s.span.Number("tokens.output", output)
	s.observer.metrics.tokens(input, output)
}

// End ends the step. outcome is one of the words that are known for the kind; failed marks an error.
func (s *Step) End(outcome string, failed bool) {
	if s == nil {
		return
	}
	s.span.Word("outcome", outcome)
	s.span.End(failed)
	s.prompt.End(failed)
	s.observer.metrics.ended(s.kind, outcome, time.Since(s.began))
}
