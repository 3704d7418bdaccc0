package sessions_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	log "github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// allowed is what a test allows, of the tool echo where it names no others. What it allows
// only grows, so that a verdict of before still holds when a test looks.
type allowed struct {
	tools permission.Tools
	home  string
	ask   []string

	mu    sync.Mutex
	rules []string
}

func (a *allowed) Tools() permission.Tools {
	if a.tools != nil {
		return a.tools
	}
	return permission.Tools{"echo": ""}
}
func (a *allowed) Allow(_ string, rules []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rules = append(a.rules, rules...)
	return nil
}
func (a *allowed) Policy(project api.Project, _ string) permission.Policy {
	a.mu.Lock()
	defer a.mu.Unlock()
	rules, err := permission.ParseRules(a.rules, a.Tools())
	if err != nil {
		panic(err)
	}
	ask, err := permission.ParseRules(a.ask, a.Tools())
	if err != nil {
		panic(err)
	}
	return permission.Policy{Dir: project.Path, Home: a.home, Rules: permission.Rules{Allow: rules, Ask: ask}}
}

// counted is an echoTool that counts its runs, and describes itself again when it is
// told to.
type counted struct {
	echoTool
	mu     sync.Mutex
	runs   int
	titles []string // of the next descriptions; the last stays
}

func (c *counted) Describe(agent.Call) agent.Description {
	c.mu.Lock()
	defer c.mu.Unlock()
	title := "echo"
	if len(c.titles) > 0 {
		title = c.titles[0]
		c.titles = c.titles[min(1, len(c.titles)-1):]
	}
	return agent.Description{Title: title}
}

func (c *counted) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	c.mu.Lock()
	c.runs++
	c.mu.Unlock()
	return c.echoTool.Run(ctx, call, progress)
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs
}

// waiting begins a session whose turn waits for an approval.
func waiting(t *testing.T, f *fixture, m *sessions.Manager) (*sessions.Session, *watcher, api.Approval) {
	t.Helper()
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	return s, w, read(w, func() api.Approval { return w.live.Approvals[0] })
}

func answerWith(t *testing.T, s *sessions.Session, r api.AnswerApprovalRequest) api.AnswerApprovalResponse {
	t.Helper()
	response, err := s.AnswerApproval(t.Context(), "cli_x", r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func resultText(w *watcher, callID string) string {
	return read(w, func() string {
		for _, e := range w.entries {
			if m, ok := e.AsMessage(); ok && m.Message.ToolCallID == callID {
				return m.Message.Content.Plain()
			}
		}
		return ""
	})
}

func TestAnswersToAnApproval(t *testing.T) {
	for _, c := range []struct {
		answer     api.AnswerApprovalRequest
		runs       int
		result     string
		stopReason session.StopReason
	}{
		{api.AnswerApprovalRequest{Decision: api.DecisionAllow}, 1, "{}", session.StopEnd},
		{api.AnswerApprovalRequest{Decision: api.DecisionAlways}, 1, "{}", session.StopEnd},
		{api.AnswerApprovalRequest{Decision: api.DecisionDeny}, 0, agent.TextDenied, session.StopEnd},
		{api.AnswerApprovalRequest{Decision: api.DecisionDeny, Feedback: " use patch "}, 0, agent.TextFeedback + "use patch", session.StopEnd},
		{api.AnswerApprovalRequest{Decision: api.DecisionDeny, Unattended: true}, 0, agent.TextNotApproved, session.StopEnd},
		{api.AnswerApprovalRequest{Decision: api.DecisionStop}, 0, agent.TextNotStarted, session.StopAborted},
	} {
		t.Run(fmt.Sprint(c.answer.Decision, c.answer.Feedback, c.answer.Unattended), func(t *testing.T) {
			tool := &counted{echoTool: echoTool{agent.RiskWrite}}
			f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done"),
				modeltest.Calls(modeltest.Call("c2", "echo", `{}`)), modeltest.Say("done")), tool)
			rules := &allowed{}
			f.deps.Permissions = rules
			m := f.manager(t)
			s, w, approval := waiting(t, f, m)
			if !slices.Equal(approval.ProposedRules, []string{"echo"}) || approval.Risk == nil || approval.Reason == "" || len(approval.Options) != 4 {
				t.Fatalf("shown: %+v", approval)
			}
			c.answer.ApprovalID, c.answer.Shown = approval.ID, "other"
			var refused *api.Error
			if _, err := s.AnswerApproval(t.Context(), "cli_x", c.answer); !errors.As(err, &refused) || refused.Kind != api.KindConflict {
				t.Fatalf("an answer to something else: %v", err)
			}
			c.answer.Shown = approval.Shown
			if r := answerWith(t, s, c.answer); !r.Won || r.Decision != c.answer.Decision {
				t.Fatalf("%+v", r)
			}
			w.wait(func() bool { return w.ended == 1 })
			if got := resultText(w, "c1"); got != c.result || tool.count() != c.runs {
				t.Fatalf("result %q after %d runs", got, tool.count())
			}
			if c.answer.Decision == api.DecisionAlways {
				send(t, s, "k2", "again") // no approval is needed
				w.wait(func() bool { return w.ended == 2 })
				if tool.count() != 2 {
					t.Fatal("what is allowed always was not run")
				}
			}
		})
	}
}

// What changes under the question is asked for again.
func TestApprovalIsBoundToWhatWasShown(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}, titles: []string{"one", "two"}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	m := f.manager(t)
	s, w, first := waiting(t, f, m)
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: first.ID, Decision: api.DecisionAllow})
	w.wait(func() bool { return len(w.live.Approvals) == 1 && w.live.Approvals[0].ID != first.ID })
	second := read(w, func() api.Approval { return w.live.Approvals[0] })
	if first.Title != "one" || second.Title != "two" || tool.count() != 0 {
		t.Fatalf("%q, then %q, after %d runs", first.Title, second.Title, tool.count())
	}
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: second.ID, Decision: api.DecisionAllow})
	w.wait(func() bool { return w.ended == 1 })
	if tool.count() != 1 {
		t.Fatalf("%d runs", tool.count())
	}
}

// An approval that waits when the host ends, or is killed, waits after its next
// start, under the same id, and its call runs once.
func TestApprovalSurvivesARestart(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) { survives(t, killed) })
	}
}

func survives(t *testing.T, killed bool) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`), modeltest.Call("c2", "echo", `{"n":2}`)), modeltest.Say("done")), tool)
	m := f.manager(t)
	s, _, before := waiting(t, f, m)
	summary, err := s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if killed { // what is on disk at this moment is all that the next host finds
		files := f.dir
		f.dir = t.TempDir()
		if err := os.CopyFS(f.dir, os.DirFS(files)); err != nil {
			t.Fatal(err)
		}
	} else if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = f.manager(t)
	s, err = m.Open(summary.ID)
	if err != nil {
		t.Fatal(err)
	}
	w := newWatcher()
	subscribe(t, s, w)
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	after := read(w, func() api.Approval { return w.live.Approvals[0] })
	if after.ID != before.ID || after.TurnID != before.TurnID || after.Shown != before.Shown || tool.count() != 0 {
		t.Fatalf("before %+v, after %+v, %d runs", before, after, tool.count())
	}
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: after.ID, Decision: api.DecisionAllow})
	w.wait(func() bool { return len(w.live.Approvals) == 1 && w.live.Approvals[0].ToolCallID == "c2" })
	last := read(w, func() api.Approval { return w.live.Approvals[0] })
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: last.ID, Decision: api.DecisionDeny})
	w.wait(func() bool { return w.ended == 1 })
	if tool.count() != 1 || resultText(w, "c1") != "{}" || resultText(w, "c2") != agent.TextDenied {
		t.Fatalf("%d runs, %q, %q", tool.count(), resultText(w, "c1"), resultText(w, "c2"))
	}
}

// What changes under a question from before a restart is asked for again, in its current form.
func TestAKeptApprovalIsBoundToWhatWasShown(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}, titles: []string{"one"}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	m := f.manager(t)
	s, _, before := waiting(t, f, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	s, w := open(t, f.manager(t), s.ID()), newWatcher()
	subscribe(t, s, w)
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	tool.mu.Lock()
	tool.titles = []string{"two"}
	tool.mu.Unlock()
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: before.ID, Decision: api.DecisionAllow})
	w.wait(func() bool { return len(w.live.Approvals) == 1 && w.live.Approvals[0].ID != before.ID })
	second := read(w, func() api.Approval { return w.live.Approvals[0] })
	if second.Title != "two" || tool.count() != 0 {
		t.Fatalf("%q is shown after %d runs", second.Title, tool.count())
	}
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: second.ID, Decision: api.DecisionAllow})
	w.wait(func() bool { return w.ended == 1 })
	if tool.count() != 1 {
		t.Fatalf("%d runs", tool.count())
	}
}

// A host that is killed while it asks again, in whatever line of the log, still has an approval
// of the call: its turn would end otherwise.
func TestACallWaitsInEveryLineOfTheLog(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}, titles: []string{"one"}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	m := f.manager(t)
	s, _, before := waiting(t, f, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	tool.mu.Lock()
	tool.titles = []string{"two"}
	tool.mu.Unlock()
	s, w := open(t, f.manager(t), s.ID()), newWatcher()
	subscribe(t, s, w)
	w.wait(func() bool { return len(w.live.Approvals) == 1 && w.live.Approvals[0].ID != before.ID })

	files, err := filepath.Glob(filepath.Join(f.dir, "*", "*"+s.ID()+"*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var cut []byte
	asked, approvals := false, 0
	for line := range bytes.Lines(text) {
		cut = append(cut, line...)
		file, err := session.ReadFile(cut)
		if err != nil {
			t.Fatal(err)
		}
		open := log.OpenApprovals(file.Tree)
		if asked = asked || len(open) > 0; asked && open["c1"].ID == "" {
			t.Errorf("nothing waits after %s", line)
		}
		if bytes.Contains(line, []byte(session.CustomApproval)) {
			approvals++
		}
	}
	if approvals != 3 { // asked, asked again, and the first one withdrawn
		t.Errorf("%d entries about approvals", approvals)
	}
}

func TestModes(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}}
	f := newFixture(t, modeltest.New(
		modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done"),
		modeltest.Calls(modeltest.Call("c2", "echo", `{}`)), modeltest.Say("done"),
		modeltest.Calls(modeltest.Call("c3", "echo", `{}`)), modeltest.Say("done"),
		modeltest.Calls(modeltest.Call("c4", "echo", `{}`)), modeltest.Say("done")), tool)
	f.deps.Permissions = &allowed{}
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	set := func(mode api.Mode) {
		if err := s.SetMode(t.Context(), "cli_x", mode); err != nil {
			t.Fatal(err)
		}
		if summary, err := s.Summary(t.Context()); err != nil || summary.Mode != mode {
			t.Fatalf("%+v, %v", summary, err)
		}
	}
	set(api.ModePlan)
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 })
	if got := resultText(w, "c1"); !strings.HasPrefix(got, agent.TextForbidden) || tool.count() != 0 {
		t.Fatalf("in plan mode: %q", got)
	}
	set(api.ModeBypass)
	send(t, s, "k2", "go")
	w.wait(func() bool { return w.ended == 2 })
	if tool.count() != 1 {
		t.Fatal("bypass mode asked for approval")
	}
	// A prompt of someone with fewer rights runs in a lower mode.
	if _, err := s.SendPromptUpTo(t.Context(), "cli_y", api.ModePlan, api.SendPromptRequest{ClientKey: "k3", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 3 })
	if got := resultText(w, "c3"); !strings.HasPrefix(got, agent.TextForbidden) {
		t.Fatalf("with a lower mode: %q", got)
	}
	set(api.ModeAsk)
	if _, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k4", Text: "go", AllowRules: []string{"echo"}}); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 4 })
	if tool.count() != 2 {
		t.Fatal("a rule of the prompt did not hold")
	}
	if _, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k5", Text: "go", AllowRules: []string{"Echo"}}); err == nil {
		t.Fatal("a rule about nothing was taken")
	}
}
