package sessions_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// reportingTool is an echoTool that tells people of its progress, and sometimes
// leaves an operation running. What it leaves has nothing more to say, so that a
// session stands still where the model does.
type reportingTool struct {
	random *rand.Rand
	risk   agent.Risk
}

func (reportingTool) Spec() agent.ToolSpec                  { return echoTool{}.Spec() }
func (r reportingTool) Risk() agent.Risk                    { return r.risk }
func (reportingTool) Describe(agent.Call) agent.Description { return agent.Description{Title: "echo"} }
func (r reportingTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	whole, op := process.Begin(ctx, process.Start{ToolCallID: call.ID, TargetType: session.ProcessSkill, Source: "echo", Message: "Begun"})
	for i := range r.random.IntN(2) {
		op.Report(process.Event{Message: fmt.Sprint("step ", i), Level: session.ProcessError})
	}
	if r.random.IntN(3) == 0 {
		process.Begin(whole, process.Start{TargetType: session.ProcessCommand, Source: "part", Message: "Stays"})
	}
	if r.random.IntN(4) > 0 {
		op.End(session.ProcessCompleted, process.Event{Message: "Over"})
	}
	return echoTool{}.Run(ctx, call, progress)
}

// records are those that an entry has received.
func records(w *watcher) []session.ProcessRecord {
	var list []session.ProcessRecord
	for _, entry := range read(w, func() []session.Entry { return w.entries[:len(w.entries):len(w.entries)] }) {
		if r, ok := entry.AsProcess(); ok {
			list = append(list, r)
		}
	}
	return list
}

// held gives the operation that a tool leaves running to the test.
type heldTool struct{ ops chan *process.Operation }

func (heldTool) Spec() agent.ToolSpec                  { return echoTool{}.Spec() }
func (heldTool) Risk() agent.Risk                      { return agent.RiskRead }
func (heldTool) Describe(agent.Call) agent.Description { return agent.Description{Title: "echo"} }
func (h heldTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	_, op := process.Begin(ctx, process.Start{ToolCallID: call.ID, TargetType: session.ProcessCommand, Source: "bash", Message: "Begun"})
	h.ops <- op
	return echoTool{}.Run(ctx, call, progress)
}

// TestAnOperationOutlivesTurnAndSleep: it continues after the turn, is there for an
// entry that wakes the session, and its end is stored although no one watches.
func TestAnOperationOutlivesTurnAndSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := heldTool{make(chan *process.Operation, 1)}
		f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
		f.deps.IdleAfter, f.deps.Processes = time.Minute, process.NewLogs(t.TempDir())
		m := f.manager(t)
		s, w := f.create(t, m), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k", "go")
		w.wait(func() bool { return w.ended == 1 })
		op := <-tool.ops
		s.Unsubscribe(t.Context(), w)
		id := m.List("")[0].ID
		<-time.After(10 * time.Minute)
		if held(t, f, id) {
			t.Fatal("the session does not sleep")
		}
		op.Report(process.Event{Message: "Asleep"})
		<-time.After(time.Second)
		late := newWatcher()
		subscribe(t, s, late)
		if p := read(late, func() []api.Process { return late.live.Processes }); len(p) != 1 || p[0].Last.Message != "Asleep" || p[0].ToolCallID != "c1" {
			t.Fatalf("a late entry sees %+v", p)
		}
		s.Unsubscribe(t.Context(), late)
		<-time.After(10 * time.Minute)
		op.End(session.ProcessCompleted, process.Event{Message: "Over"})
		<-time.After(time.Second)
		last := newWatcher()
		subscribe(t, s, last)
		r, running := records(last), read(last, func() int { return len(last.live.Processes) })
		if len(r) != 1 || r[0].Status != session.ProcessCompleted || len(r[0].Lines) != 3 || running != 0 {
			t.Errorf("the records are %+v, %d run", r, running)
		}
	})
}

// TestTheEndOfTheHostEndsOperations, and they are ended once.
func TestTheEndOfTheHostEndsOperations(t *testing.T) {
	tool := heldTool{make(chan *process.Operation, 1)}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	f.deps.Processes = process.NewLogs(t.TempDir())
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k", "go")
	w.wait(func() bool { return w.ended == 1 })
	for range 3 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		id := m.List("")[0].ID
		m, w = f.manager(t), newWatcher()
		subscribe(t, open(t, m, id), w)
		if r := records(w); len(r) != 1 || r[0].Status != session.ProcessCancelled {
			t.Fatalf("the records are %+v", r)
		}
	}
}

// TestAKilledHostLeavesNoOperationOpen plays the kill: the log of the operation is
// there, and nothing else is.
func TestAKilledHostLeavesNoOperationOpen(t *testing.T) {
	k := newTalk(t, 1)
	k.f.deps.Processes = process.NewLogs(t.TempDir())
	dead := process.NewSink(k.f.deps.Processes, k.m.List("")[0].ID, slog.New(slog.DiscardHandler))
	_, op := process.Begin(process.WithSink(t.Context(), dead), process.Start{ToolCallID: "c1", TargetType: session.ProcessCommand, Source: "bash", Message: "Begun"})
	for range 3 {
		k.restart(t)
		r := records(k.w)
		if len(r) != 1 || r[0].OperationID != op.ID() || r[0].Status != session.ProcessFailed || r[0].Lines[1].Stage != "interrupted" {
			t.Fatalf("the records are %+v", r)
		}
	}
}
