package sessions_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// metered is a model that tells what each call cost, and of an attempt before it where
// that failed.
type metered struct {
	agent.Model
	each, failed session.Usage
}

func (m metered) Stream(ctx context.Context, r agent.Request, emit func(agent.Delta)) session.Message {
	if m.failed.TotalTokens > 0 {
		emit(agent.Delta{Kind: agent.DeltaReset, Text: "again", Usage: &m.failed})
	}
	message := m.Model.Stream(ctx, r, emit)
	usage := m.each
	message.Usage = &usage
	return message
}

func usage(input, output, cacheRead, cacheWrite int, cost float64) session.Usage {
	return session.Usage{
		Input: input, Output: output, CacheRead: cacheRead, CacheWrite: cacheWrite,
		TotalTokens: input + output + cacheRead + cacheWrite, Cost: session.Cost{Total: cost},
	}
}

// What a session took is the sum of its log: turns with their failed and canceled
// attempts, and apart from them titles and summaries. It is the same after a restart, by
// the log and by the index.
func TestUsageIsTheSumOfTheLog(t *testing.T) {
	script := modeltest.New(
		modeltest.Calls(modeltest.Call("c", "echo", `{}`)), modeltest.Say("a long answer, which a summary is shorter than"),
		modeltest.Step{Stop: session.StopError, Error: "HTTP 500"},
		modeltest.Step{Content: session.Content{session.Text("half")}, Stall: true},
		modeltest.Step{Overflow: true}, modeltest.Say("done"),
	)
	f := newFixture(t, nil, echoTool{agent.RiskRead})
	f.deps.Models = oneModel{metered{script, usage(100, 10, 1000, 50, 0.25), usage(7, 1, 0, 0, 0.5)}}
	f.deps.Summaries = sessions.Summaries{
		Share: 0.8, KeepTokens: 4, Model: metered{modeltest.New(modeltest.Say("Ok.")), usage(40, 4, 0, 0, 2), usage(2, 1, 0, 0, 1)},
	}
	f.deps.Titles = metered{modeltest.New(modeltest.Say("A title")), usage(20, 2, 0, 0, 4), session.Usage{}}
	withIndex(t, f)
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "first")
	w.wait(func() bool { return w.ended == 1 && titled(w) })
	send(t, s, "k2", "fails")
	w.wait(func() bool { return w.ended == 2 })
	send(t, s, "k3", "is canceled")
	w.wait(func() bool { return len(w.live.Partial) == 1 && w.live.Partial[0].Text == "half" })
	turnID := read(w, func() string { return w.live.Turn.TurnID })
	if _, err := s.CancelTurn(t.Context(), turnID); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 3 })
	send(t, s, "k4", "does not fit")
	w.wait(func() bool { return w.ended == 4 })

	// Six calls, each after an attempt that failed; the message of the one that did not
	// fit is not kept.
	want := api.TokenUsage{Input: 642, Output: 66, CacheRead: 6000, CacheWrite: 300, Cost: 4.5}
	beside := api.TokenUsage{Input: 62, Output: 7, Cost: 7}
	check := func(when string, got api.SessionSummary) {
		t.Helper()
		if got.Usage != want || got.Auxiliary != beside {
			t.Errorf("%s: %+v and %+v, want %+v and %+v", when, got.Usage, got.Auxiliary, want, beside)
		}
	}
	summary, err := s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check("at once", summary)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	withIndex(t, f)
	check("by the index", f.manager(t).List("")[0])
}

func titled(w *watcher) bool {
	for _, e := range w.entries {
		if e.Type == session.TypeSessionInfo {
			return true
		}
	}
	return false
}

// withIndex gives the next manager the index of the fixture's folder.
func withIndex(t *testing.T, f *fixture) {
	t.Helper()
	found, err := index.Open(t.Context(), filepath.Join(f.dir, "index.db"), file.New(f.dir, f.deps.Logger), f.deps.Logger)
	if err != nil {
		t.Fatal(err)
	}
	f.deps.Index = found
}
