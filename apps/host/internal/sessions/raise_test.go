package sessions_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func setMode(t *testing.T, s *sessions.Session, mode api.Mode) {
	t.Helper()
	if err := s.SetMode(t.Context(), "cli_y", mode); err != nil {
		t.Fatal(err)
	}
}

// TestARaisedModeReleases: what waits continues when the mode allows it by now, and says so;
// a lower mode, and one above what the sender may go to, release nothing.
func TestARaisedModeReleases(t *testing.T) {
	for name, c := range map[string]struct {
		most     api.Mode // of who sent the prompt
		modes    []api.Mode
		released api.Mode // "" is not at all
	}{
		"to auto":                  {"", []api.Mode{api.ModeAuto}, api.ModeAuto},
		"to bypass":                {"", []api.Mode{api.ModeBypass}, api.ModeBypass},
		"by steps":                 {"", []api.Mode{api.ModeAcceptEdits, api.ModeAuto}, api.ModeAuto},
		"down and up":              {"", []api.Mode{api.ModePlan, api.ModeAsk, api.ModeAuto}, api.ModeAuto},
		"not enough":               {"", []api.Mode{api.ModeAcceptEdits}, ""},
		"down":                     {"", []api.Mode{api.ModePlan}, ""},
		"above the sender":         {api.ModeAsk, []api.Mode{api.ModeAuto, api.ModeBypass}, ""},
		"as far as the sender may": {api.ModeAuto, []api.Mode{api.ModeBypass}, api.ModeAuto},
	} {
		t.Run(name, func(t *testing.T) {
			tool := &counted{echoTool: echoTool{agent.RiskWrite}}
			f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
			f.deps.Permissions = &allowed{}
			m := f.manager(t)
			s, w := f.create(t, m), newWatcher()
			subscribe(t, s, w)
			if _, err := s.SendPromptUpTo(t.Context(), "cli_x", c.most, api.SendPromptRequest{ClientKey: "k1", Text: "go"}); err != nil {
				t.Fatal(err)
			}
			w.wait(func() bool { return len(w.live.Approvals) == 1 })
			for _, mode := range c.modes {
				setMode(t, s, mode)
			}
			waits := read(w, func() int { return len(w.live.Approvals) })
			if c.released == "" {
				if waits != 1 || tool.count() != 0 {
					t.Fatalf("%d wait, %d runs", waits, tool.count())
				}
				return
			}
			if waits != 0 {
				t.Fatal("the call still waits when the mode is set")
			}
			w.wait(func() bool { return w.ended == 1 })
			kept := lastDecision(w)
			if tool.count() != 1 || kept.Decision != string(api.DecisionAllow) || kept.DecidedBy != "cli_y" || kept.Released == nil || kept.Released.Mode != string(c.released) || kept.Released.Rules != nil {
				t.Fatalf("%d runs, kept %+v, %+v", tool.count(), kept, kept.Released)
			}
		})
	}
}

// TestAChildContinuesWithItsParent: a child is bound to the mode of its parent, so what
// waits in it continues when that is raised again.
func TestAChildContinuesWithItsParent(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), echoTool{agent.RiskWrite})
	f.deps.Permissions = &allowed{}
	m := f.manager(t)
	parent := f.create(t, m)
	setMode(t, parent, api.ModeAuto)
	child, err := m.CreateChild(t.Context(), parent, sessions.ChildSpec{Key: "child", Model: "main", Record: session.ChildRecord{Title: "child"}})
	if err != nil {
		t.Fatal(err)
	}
	setMode(t, parent, api.ModeAsk)
	w := newWatcher()
	subscribe(t, child, w)
	if err := child.SendTask(t.Context(), sessions.Task{Key: "k1", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	setMode(t, parent, api.ModeAuto)
	w.wait(func() bool { return w.ended == 1 })
	if kept := lastDecision(w); kept.Released == nil || kept.Released.Mode != string(api.ModeAuto) || kept.DecidedBy != "cli_y" {
		t.Fatalf("kept %+v", kept)
	}
}

// snapshots is an echoTool that copies the files of the host when it runs: what a host
// finds that is killed at that moment.
type snapshots struct {
	counted
	from, to string
	failed   atomic.Pointer[error]
}

func (s *snapshots) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	if s.counted.count() == 0 {
		if err := os.CopyFS(s.to, os.DirFS(s.from)); err != nil {
			s.failed.Store(&err)
		}
	}
	return s.counted.Run(ctx, call, progress)
}

// TestAReleasedCallIsNotMadeAgain: what released a call is on disk before the call is made,
// while the host runs and after a restart that finds the call allowed, so that a host that
// is killed in the call does not make it again.
func TestAReleasedCallIsNotMadeAgain(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		t.Run(map[bool]string{false: "while it runs", true: "after a restart"}[restarted], func(t *testing.T) { notAgain(t, restarted) })
	}
}

func notAgain(t *testing.T, restarted bool) {
	tool := &snapshots{counted: counted{echoTool: echoTool{agent.RiskWrite}}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	tool.from, tool.to = f.dir, t.TempDir()
	rules := &allowed{}
	f.deps.Permissions = rules
	m := f.manager(t)
	s, w, _ := waiting(t, f, m)
	id := s.ID()
	by := "cli_y"
	if restarted {
		by = "host"
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := rules.Allow("", []string{"echo"}); err != nil {
		t.Fatal(err)
	}
	if restarted {
		m = f.manager(t)
		w = newWatcher()
		subscribe(t, open(t, m, id), w)
		w.wait(func() bool { return w.live.Turn == nil })
	} else {
		m.Reconsider(f.project.ID, by)
		w.wait(func() bool { return w.ended == 1 })
	}
	if err := tool.failed.Load(); err != nil {
		t.Fatal(*err)
	}
	kept := lastDecision(w)
	if tool.count() != 1 || kept.DecidedBy != by || kept.Released == nil || strings.Join(kept.Released.Rules, " ") != "echo" {
		t.Fatalf("%d runs, kept %+v, %+v", tool.count(), kept, kept.Released)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	f.dir = tool.to
	again := newWatcher()
	subscribe(t, open(t, f.manager(t), id), again)
	again.wait(func() bool { return again.live.Turn == nil })
	if got := resultText(again, "c1"); tool.count() != 1 || got != agent.TextInterrupted {
		t.Fatalf("after the kill: %d runs, result %q", tool.count(), got)
	}
}

// TestAReleaseThatCannotBeKept: a call was not denied, so it keeps waiting if the disk
// refuses what would release it.
func TestAReleaseThatCannotBeKept(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	f.deps.Permissions = &allowed{}
	provider := newFullProvider(f, `"released"`)
	m, err := sessions.NewManager(t.Context(), provider, f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	s, w, approval := waiting(t, f, m)
	provider.full.Store(true)
	setMode(t, s, api.ModeAuto)
	<-provider.refused
	if n := read(w, func() int { return len(w.live.Approvals) }); n != 1 || tool.count() != 0 {
		t.Fatalf("%d wait, %d runs", n, tool.count())
	}
	if r := answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: approval.ID, Decision: api.DecisionAllow}); !r.Won {
		t.Fatalf("%+v", r)
	}
	w.wait(func() bool { return w.ended == 1 })
}
