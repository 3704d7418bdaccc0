package cli

import (
	"context"

	"github.com/scorel/scorel/packages/trace"
)

// Variables of traces. The first has the span that a command belongs to, as other programs set it;
// the second, the collector that the command sends its own span to.
const (
	traceparentVariable = "TRACEPARENT"
	traceURLVariable    = "SCOREL_TRACE_URL"
)

// startTrace begins the span of a prompt. It returns the parent of the spans of the host, which is
// the zero value if there is no trace, and what ends the span and sends it.
func startTrace(ctx context.Context, env *environment) (trace.Parent, func(failed bool), error) {
	parent, _ := trace.ParseTraceparent(env.getenv(traceparentVariable))
	url := env.getenv(traceURLVariable)
	if url == "" {
		return parent, func(bool) {}, nil
	}
	tracer, err := trace.New(trace.Options{URL: url, Service: "scorel-cli", Version: version})
	if err != nil {
		return parent, nil, usagef("%s: %s", traceURLVariable, err)
	}
	sending := startPart(context.WithoutCancel(ctx), func(ctx context.Context) error {
		tracer.Run(ctx)
		return nil
	})
	span := tracer.Start(parent, "prompt")
	if span != nil {
		parent = span.Self()
	}
	return parent, func(failed bool) {
		span.End(failed)
		_ = sending.stop() // what cannot be sent is lost
	}, nil
}
