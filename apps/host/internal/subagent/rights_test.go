package subagent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// writes is a child that writes a file and then reports.
func writes() *modeltest.Scripted {
	return modeltest.New(modeltest.Calls(modeltest.Call("w1", "write_file", `{"path":"made","content":"x"}`)), modeltest.Say("the report"))
}

func goes() *modeltest.Scripted {
	return modeltest.New(modeltest.Calls(delegate("c1", "one")), modeltest.Say("done"))
}

// made reports whether the child wrote its file.
func (w *world) made(t *testing.T) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(w.project.Path, "made"))
	return err == nil
}

func TestAChildIsDeniedWhatItsParentIs(t *testing.T) {
	for name, c := range map[string]struct {
		deny []string
		mode api.Mode
		all  bool
		most api.Mode
	}{
		"a rule":                 {deny: []string{"write_file"}, mode: api.ModeBypass},
		"plan":                   {mode: api.ModePlan},
		"plan, with all allowed": {mode: api.ModePlan, all: true},
		"the sender's limit":     {mode: api.ModeBypass, most: api.ModePlan},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, casting{"go": goes(), "one": writes()})
			w.deny = c.deny
			m := w.manager(t)
			s, watch := w.begin(t, m)
			if err := s.SetMode(t.Context(), "cli_x", c.mode); err != nil {
				t.Fatal(err)
			}
			request := api.SendPromptRequest{Text: "go", ClientKey: "k", AllowAll: c.all}
			if _, err := s.SendPromptUpTo(t.Context(), "cli_x", c.most, request); err != nil {
				t.Fatal(err)
			}
			watch.waitEnd(1)
			member := lastSubagents(t, watch).Members[0]
			_, child := open(t, m, member.SessionID)
			if result := oneResult(t, child, "w1"); !*result.IsError || w.made(t) {
				t.Errorf("the child was let write: %s", result.Content.Plain())
			}
			if member.State != session.ChildCompleted {
				t.Errorf("the child is %s: %s", member.State, member.Error)
			}
		})
	}
}

func TestAChildMayWhatItsParentMay(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": writes()})
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go", AllowRules: []string{"write_file"}})
	watch.waitEnd(1)
	if !w.made(t) {
		t.Error("the rule of the prompt does not hold for the child")
	}
}

// TestAParentThatIsHeldBackHoldsItsChild: lowering a mode while a child works applies to
// its next call, and raising the child's mode has no effect.
func TestAParentThatIsHeldBackHoldsItsChild(t *testing.T) {
	first, then := make(chan struct{}), make(chan struct{})
	w := newWorld(t, casting{"go": goes(), "one": &meeting{Model: writes(), here: first, there: then}})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	if err := s.SetMode(t.Context(), "cli_x", api.ModeBypass); err != nil {
		t.Fatal(err)
	}
	ask(t, s, api.SendPromptRequest{Text: "go"})
	<-first
	child := watch.child(func(c api.SubagentChild) bool { return c.State == session.ChildRunning })
	kid, _ := open(t, m, child.SessionID)
	if err := s.SetMode(t.Context(), "cli_x", api.ModePlan); err != nil {
		t.Fatal(err)
	}
	if err := kid.SetMode(t.Context(), "cli_x", api.ModeBypass); err != nil {
		t.Fatal(err)
	}
	close(then)
	watch.waitEnd(1)
	if w.made(t) {
		t.Error("the child wrote in a session that plans")
	}
}

func TestAnApprovalOfAChildIsAnsweredFromItsParent(t *testing.T) {
	w := newWorld(t, casting{"go": goes(), "one": writes()})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	child := watch.child(func(c api.SubagentChild) bool { return len(c.Approvals) == 1 })
	if summary, err := s.Summary(t.Context()); err != nil || !summary.WaitingApproval {
		t.Errorf("the parent does not say that it waits: %+v %v", summary, err)
	}
	_, late := open(t, m, s.ID()) // an entry that connects now sees it too
	if got := late.live.Subagents[0].Children[0]; len(got.Approvals) != 1 || got.Approvals[0].ID != child.Approvals[0].ID {
		t.Fatalf("a late entry sees %+v", got)
	}
	kid, _ := open(t, m, child.SessionID)
	answer := api.AnswerApprovalRequest{ApprovalID: child.Approvals[0].ID, Decision: api.DecisionAllow, Shown: child.Approvals[0].Shown}
	if r, err := kid.AnswerApproval(t.Context(), "cli_x", answer); err != nil || !r.Won {
		t.Fatalf("the answer got %+v, %v", r, err)
	}
	watch.waitEnd(1)
	want := []api.ApprovalDecision{{ApprovalID: child.Approvals[0].ID, Decision: api.DecisionAllow, DecidedBy: "cli_x"}}
	if !slices.Equal(watch.decided, want) {
		t.Errorf("watchers of the parent see the decisions %+v, want %+v", watch.decided, want)
	}
	if summary, err := s.Summary(t.Context()); err != nil || summary.WaitingApproval || !w.made(t) {
		t.Errorf("after the answer: %+v %v, written %v", summary, err, w.made(t))
	}
	if text := oneResult(t, watch, "c1").Content.Plain(); !strings.Contains(text, "the report") {
		t.Errorf("the result is %s", text)
	}
}
