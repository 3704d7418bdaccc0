package mcp_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestProgressReachesPeople: over both transports, and every visible call ends exactly
// once.
func TestProgressReachesPeople(t *testing.T) {
	address, release := overHTTP(t, "sesame")
	t.Cleanup(release)
	for name, config := range map[string]state.MCPServer{
		"stdio": child(t, "good"),
		"http":  {URL: address, Headers: map[string]string{"Authorization": "Bearer sesame"}, StartTimeout: 60},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *mcp.Options) { o.Servers["one"] = config })
			sink := process.NewSink(process.NewLogs(t.TempDir()), "s", slog.New(slog.DiscardHandler))
			ctx := process.WithSink(t.Context(), sink)
			if text := w.call(t, ctx, "mcp__one__walk", `{}`).Content.Plain(); text != "there" {
				t.Fatalf("it said %q", text)
			}
			r := last(t, sink)
			if r.Status != session.ProcessCompleted || r.TargetType != session.ProcessMCP || r.Source != "one" || r.ToolCallID != "c" {
				t.Errorf("the record is %+v", r)
			}
			told := 0
			for _, line := range r.Lines {
				if line.Stage == "progress" && *line.Total == 3 {
					told++
				}
			}
			if told == 0 {
				t.Errorf("no progress in %+v", r.Lines)
			}
		})
	}
}

// last returns the only record.
func last(t *testing.T, sink *process.Sink) process.Record {
	t.Helper()
	changes := sink.Take()
	if n := len(changes); n != 1 || changes[0].Record == nil {
		t.Fatalf("the changes are %+v", changes)
	}
	return *changes[0].Record
}

func TestACancelledCallIsSeenToEnd(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.Servers["one"] = child(t, "good") })
	sink := process.NewSink(nil, "s", slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(process.WithSink(t.Context(), sink))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.call(t, ctx, "mcp__one__hang", `{}`)
	}()
	<-sink.Ready() // after a second
	cancel()
	<-done
	if r := last(t, sink); r.Status != session.ProcessCancelled {
		t.Errorf("the record is %+v", r)
	}
}
