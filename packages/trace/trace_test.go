package trace_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/trace"
	"github.com/scorel/scorel/packages/trace/tracetest"
)

const known = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTraceparent(t *testing.T) {
	for text, want := range map[string]string{
		known: known,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00":     "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
		"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-new": known, // of a later version
		"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01":     "",
		known + "-more": "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01":  "",
		"": "", "prompt": "", strings.Repeat("0-", 100): "",
	} {
		parent, ok := trace.ParseTraceparent(text)
		if parent.String() != want || ok != (want != "") {
			t.Errorf("%q is read as %q, %v", text, parent, ok)
		}
	}
}

// run starts a tracer; stop sends what waits.
func run(t *testing.T, url string) (tracer *trace.Tracer, stop func()) {
	t.Helper()
	tracer, err := trace.New(trace.Options{URL: url, Service: "test", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { tracer.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return tracer, stop
}

func TestSpansReachTheCollector(t *testing.T) {
	collector := tracetest.Start()
	defer collector.Close()
	tracer, stop := run(t, collector.URL())
	parent, _ := trace.ParseTraceparent(known)
	turn := tracer.Start(parent, "turn")
	call := tracer.Start(turn.Self(), "tool")
	call.Word("outcome", "error")
	call.Number("tokens", 12)
	call.End(true)
	call.End(false)
	turn.End(false)
	tracer.Start(trace.Parent{}, "alone").End(false)
	off, _ := trace.ParseTraceparent(strings.TrimSuffix(known, "01") + "00")
	tracer.Start(off, "not sampled").End(false)
	stop()
	spans, _ := collector.Spans()
	if faults := collector.Faults(); len(faults) > 0 || len(spans) != 3 || tracer.Lost() != 0 {
		t.Fatalf("%q, %+v", faults, spans)
	}
	tool, above, alone := spans[0], spans[1], spans[2]
	if above.TraceID != known[3:35] || above.ParentSpanID != known[36:52] || above.Failed || above.Service != "test" {
		t.Errorf("the turn is %+v", above)
	}
	if tool.TraceID != above.TraceID || tool.ParentSpanID != above.SpanID || !tool.Failed || tool.Attributes["outcome"] != "error" || tool.Attributes["tokens"] != "12" {
		t.Errorf("the tool is %+v", tool)
	}
	if alone.TraceID == above.TraceID || alone.ParentSpanID != "" {
		t.Errorf("the span without a parent is %+v", alone)
	}
}

// TestSpansAreLostAndNotWaitedFor: a collector that fails costs spans, and nothing else.
func TestSpansAreLostAndNotWaitedFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }))
	defer server.Close()
	tracer, err := trace.New(trace.Options{URL: server.URL, Service: "test"})
	if err != nil {
		t.Fatal(err)
	}
	const many = 5000 // more than wait
	for range many {
		tracer.Start(trace.Parent{}, "x").End(false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tracer.Run(ctx)
	if tracer.Lost() != many {
		t.Errorf("%d of %d spans are lost", tracer.Lost(), many)
	}
}

func TestNothingIsRecordedWithoutATracer(t *testing.T) {
	var tracer *trace.Tracer
	span := tracer.Start(trace.Parent{}, "x")
	span.Number("n", 1)
	span.Word("w", "x")
	span.End(false)
	if span.Self().String() != "" || trace.From(trace.With(t.Context(), span.Self())) != (trace.Parent{}) {
		t.Error("a span without a tracer is one")
	}
	for _, url := range []string{"", "127.0.0.1:4318", "ftp://x/", "http://name:password@127.0.0.1/"} {
		if _, err := trace.New(trace.Options{URL: url}); err == nil {
			t.Errorf("%q is an address", url)
		}
	}
}
