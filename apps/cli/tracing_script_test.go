package cli

import (
	"context"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scorel/scorel/packages/trace/tracetest"
)

// cmdCollect starts a collector of spans.
func cmdCollect(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 1)
	collector := tracetest.Start()
	ts.Defer(collector.Close)
	if s.collectors == nil {
		s.collectors = map[string]*tracetest.Collector{}
	}
	s.collectors[args[0]] = collector
	ts.Setenv(args[0]+"_url", collector.URL())
}

// cmdSpans waits until a collector has spans with all names, of which each is that of the trace
// above it, and all belong to one trace.
func cmdSpans(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 2)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	collector := s.collectors[args[0]]
	for {
		spans, changed := collector.Spans()
		if above := chain(spans, args[1:]); above {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			ts.Fatalf("the spans are %+v", spans)
		}
	}
	if faults := collector.Faults(); len(faults) > 0 {
		ts.Fatalf("the collector refused %q", faults)
	}
}

// chain reports whether there is a span of each name below one of the name before it.
func chain(spans []tracetest.Span, names []string) bool {
	var above tracetest.Span
	for i, name := range names {
		at := slices.IndexFunc(spans, func(span tracetest.Span) bool {
			return span.Name == name && (i == 0 || span.ParentSpanID == above.SpanID && span.TraceID == above.TraceID)
		})
		if at < 0 {
			return false
		}
		above = spans[at]
	}
	return true
}
