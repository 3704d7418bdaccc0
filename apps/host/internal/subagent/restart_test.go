package subagent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// stalls is a child that never finishes.
func stalls() *modeltest.Scripted {
	return modeltest.New(modeltest.Step{Content: session.Content{session.Text("half a report")}, Stall: true})
}

// works starts a delegation and returns while the child is working.
func (w *world) works(t *testing.T, m *sessions.Manager) (parentID, childID string) {
	t.Helper()
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	child := watch.child(func(c api.SubagentChild) bool { return c.State == session.ChildRunning })
	_, kid := open(t, m, child.SessionID)
	kid.wait(func() bool { return len(kid.live.Partial) > 0 })
	return s.ID(), child.SessionID
}

// settled checks the state of a delegation after a restart interrupted it.
func (w *world) settled(t *testing.T, m *sessions.Manager, parentID, childID string, want session.ChildState) {
	t.Helper()
	s, watch := open(t, m, parentID)
	subagents := records[session.SubagentRecord](t, watch, session.CustomSubagents)
	last := subagents[len(subagents)-1].Members[0]
	if len(subagents) != 3 || last.State != want || last.SessionID != childID || last.StartedAt == 0 || last.EndedAt < last.StartedAt || subagents[2].StartedAt == 0 {
		t.Errorf("the parent's records are %+v, the child is to be %s", subagents, want)
	}
	if len(watch.live.Subagents) != 0 || watch.live.Turn != nil {
		t.Errorf("the parent is still running: %+v", watch.live)
	}
	_, kid := open(t, m, childID)
	if kid.live.Turn != nil || len(records[session.TurnRecord](t, kid, session.CustomTurn)) != 1 {
		t.Errorf("the child is still running, or its log does not say how it ended: %+v", kid.live)
	}
	ask(t, s, api.SendPromptRequest{Text: "and now"}) // the strict model refuses a call that does not have exactly one result
	watch.waitEnd(1)
	if end := watch.ended[0]; end.StopReason != session.StopEnd {
		t.Errorf("the next turn ends with %s %s", end.StopReason, end.Error)
	}
}

func TestAHostThatEndsCancelsItsChildren(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": stalls()})
	m := w.manager(t)
	parentID, childID := w.works(t, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	w.cast["go"] = modeltest.New(modeltest.Say("fine"))
	m = w.manager(t)
	_, watch := open(t, m, parentID)
	if result := oneResult(t, watch, "c1"); !*result.IsError {
		t.Error("the call that was cut off did not fail")
	}
	w.settled(t, m, parentID, childID, session.ChildCancelled)
}

// TestAHostThatIsKilledLosesItsChildren uses a copy of the files from the middle of a
// child's work, as after a kill.
func TestAHostThatIsKilledLosesItsChildren(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": stalls()})
	parentID, childID := w.works(t, w.manager(t))
	after := newWorld(t, casting{"go": modeltest.New(modeltest.Say("fine"))})
	if err := os.CopyFS(filepath.Join(after.dir, "prj_1"), os.DirFS(filepath.Join(w.dir, "prj_1"))); err != nil {
		t.Fatal(err)
	}
	after.settled(t, after.manager(t), parentID, childID, session.ChildFailed)
}

// TestAChildThatWaitsIsNotTakenUp: a call that waits for a person continues after a
// restart, but not in a child whose parent already has its result.
func TestAChildThatWaitsIsNotTakenUp(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": writes()})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	child := watch.child(func(c api.SubagentChild) bool { return len(c.Approvals) == 1 })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	w.cast["go"] = modeltest.New(modeltest.Say("fine"))
	m = w.manager(t)
	w.settled(t, m, s.ID(), child.SessionID, session.ChildCancelled)
	_, kid := open(t, m, child.SessionID)
	if oneResult(t, kid, "w1"); len(kid.live.Approvals) != 0 || w.made(t) {
		t.Errorf("the call of the child still waits, or ran: %+v", kid.live)
	}
}

// TestAChildThatWaitedWhenTheHostWasKilledIsNotTakenUp uses a copy of the files from while
// it waits.
func TestAChildThatWaitedWhenTheHostWasKilledIsNotTakenUp(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": writes()})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	child := watch.child(func(c api.SubagentChild) bool { return len(c.Approvals) == 1 })
	after := newWorld(t, casting{"go": modeltest.New(modeltest.Say("fine")), "one": writes()})
	if err := os.CopyFS(filepath.Join(after.dir, "prj_1"), os.DirFS(filepath.Join(w.dir, "prj_1"))); err != nil {
		t.Fatal(err)
	}
	m = after.manager(t)
	after.settled(t, m, s.ID(), child.SessionID, session.ChildFailed)
	if _, kid := open(t, m, child.SessionID); len(kid.live.Approvals) != 0 {
		t.Errorf("the call of the child still waits: %+v", kid.live.Approvals)
	}
}

func TestDeletingASessionDeletesItsChildren(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": modeltest.New(modeltest.Say("the report"))})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	if n := len(m.List("")); n != 2 {
		t.Fatalf("there are %d sessions", n)
	}
	if _, err := m.Delete(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "*", "*.jsonl"))
	if err != nil || len(files) != 0 || len(m.List("")) != 0 {
		t.Errorf("there are still %q %v", files, err)
	}
}

func TestABusySessionKeepsItsChildren(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": stalls()})
	m := w.manager(t)
	parentID, _ := w.works(t, m)
	if _, err := m.Delete(t.Context(), parentID); err == nil || len(m.List("")) != 2 {
		t.Errorf("a session was deleted while it works: %v, %d are left", err, len(m.List("")))
	}
}
