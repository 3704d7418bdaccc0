package subagent_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/subagent"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// withPrograms has a program of another vendor in the world, which agents without limits may use.
func withPrograms(t *testing.T, w *world) {
	t.Helper()
	w.backends = backend.New(backend.Options{Environ: os.Environ, Definitions: []backend.Definition{
		{Name: "fake", Title: "Fake", Command: os.Args[0], Args: []string{fakeagent.Arg, "--home=" + t.TempDir()}},
		{Name: "absent", Title: "Absent", Command: "scorel-no-such-program", Install: "npm install -g absent"},
	}})
	w.limits.Backends = []string{"absent", "fake"}
	t.Cleanup(w.backends.Close)
}

// onBackend returns a call that gives one task to an agent, on a program.
func onBackend(agent, program, task string) session.Block {
	return modeltest.Call("c1", "delegate_task", fmt.Sprintf(`{"agent":%q,"backend":%q,"prompt":%q}`, agent, program, task))
}

// TestATaskOnAnotherProgram: the program gets the instructions and the task, its approval is shown
// and answered in the session that gave the task, and its last message is the report.
func TestATaskOnAnotherProgram(t *testing.T) {
	task := "say working\ncall b1 execute make\nask b1\ndone b1 made\nsay the report of the program"
	parent := modeltest.New(modeltest.Calls(onBackend("general", "fake", task)), modeltest.Say("done"))
	w := newWorld(t, casting{"go": parent})
	withPrograms(t, w)
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	child := watch.child(func(c api.SubagentChild) bool { return len(c.Approvals) == 1 })
	approval := child.Approvals[0]
	if approval.Command != "make" || len(approval.Choices) != 3 {
		t.Errorf("%+v", approval)
	}
	kid, kidWatch := open(t, m, child.SessionID)
	if _, err := kid.AnswerApproval(t.Context(), "cli_x", api.AnswerApprovalRequest{SessionID: child.SessionID, ApprovalID: approval.ID, Decision: approval.Choices[0].Decision}); err != nil {
		t.Fatal(err)
	}
	watch.waitEnd(1)
	if result := oneResult(t, watch, "c1").Content.Plain(); !strings.Contains(result, "the report of the program") {
		t.Errorf("the report is %q", result)
	}
	chosen := records[session.BackendRecord](t, kidWatch, session.CustomBackend)
	if len(chosen) == 0 || chosen[0].Kind != session.BackendChosen || chosen[0].Backend != "fake" {
		t.Errorf("%+v", chosen)
	}
	kidWatch.waitEnd(1)
	ask(t, kid, api.SendPromptRequest{Text: "recall"})
	kidWatch.waitEnd(2)
	said := kidWatch.messages(session.RoleAssistant)
	known := said[len(said)-1].Content.Plain()
	if strings.Count(known, `You are the agent "general"`) != 1 || !strings.Contains(known, "ask b1") {
		t.Errorf("the program was given %q", known)
	}
}

// TestAProgramIsNotAllowed: without permission of the owner, no other program works on a task.
func TestAProgramIsNotAllowed(t *testing.T) {
	limited := agentdef.Agent{Name: "limited", Description: "reads", Tools: []string{"read_file"}, Scope: agentdef.ScopeUser}
	for name, c := range map[string]struct {
		agent, program, want string
		prepare              func(*world)
		mode                 api.Mode
	}{
		"nothing is allowed":  {"general", "fake", "may not work", func(w *world) { w.limits.Backends = nil }, ""},
		"another one":         {"general", "other", "may not work", func(*world) {}, ""},
		"its tools are few":   {"limited", "fake", "may not work", func(*world) {}, ""},
		"tools of all":        {"general", "fake", "may not work", func(w *world) { w.limits.Tools = []string{"grep"} }, ""},
		"of another agent":    {"general", "fake", "may not work", func(w *world) { w.limits.Backends = nil; allowFor(w, "limited") }, ""},
		"it is not installed": {"general", "absent", "npm install -g absent", func(*world) {}, ""},
		"plan":                {"general", "fake", "in the mode plan", func(*world) {}, api.ModePlan},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, casting{"go": modeltest.New(modeltest.Calls(onBackend(c.agent, c.program, "say it ran")), modeltest.Say("done"))})
			withPrograms(t, w)
			w.custom = []agentdef.Agent{limited}
			c.prepare(w)
			s, watch := w.begin(t, w.manager(t))
			if c.mode != "" {
				if err := s.SetMode(t.Context(), "cli_x", c.mode); err != nil {
					t.Fatal(err)
				}
			}
			ask(t, s, api.SendPromptRequest{Text: "go"})
			watch.waitEnd(1)
			if result := oneResult(t, watch, "c1").Content.Plain(); !strings.Contains(result, c.want) || strings.Contains(result, "it ran") {
				t.Errorf("the result is %q, want %q", result, c.want)
			}
			if w.backends.Running() != 0 {
				t.Error("the program was started")
			}
		})
	}
}

func allowFor(w *world, agent string) {
	w.limits.Agents = map[string]subagent.AgentLimits{agent: {Enabled: true, MaxConcurrent: 1, Backends: []string{"fake"}}}
}

// TestAProgramForALimitedAgent: the owner names it for the agent, whose limits do not bind it.
func TestAProgramForALimitedAgent(t *testing.T) {
	w := newWorld(t, casting{"go": modeltest.New(modeltest.Calls(onBackend("limited", "fake", "say it ran")), modeltest.Say("done"))})
	withPrograms(t, w)
	w.custom = []agentdef.Agent{{Name: "limited", Description: "reads", Tools: []string{"read_file"}, Scope: agentdef.ScopeUser}}
	allowFor(w, "limited")
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	if result := oneResult(t, watch, "c1").Content.Plain(); !strings.Contains(result, "it ran") {
		t.Errorf("the result is %q", result)
	}
}

// TestAPersonaStaysWithItsLimits: a session that runs as an agent does not use another program.
func TestAPersonaStaysWithItsLimits(t *testing.T) {
	w := newWorld(t, casting{})
	withPrograms(t, w)
	m := w.managerWith(t, func(d *sessions.Deps) {
		d.Agent = func(string, string) (sessions.Persona, error) { return sessions.Persona{Name: "limited"}, nil }
	})
	request := api.CreateSessionRequest{ClientKey: "k", Agent: "limited", Backend: "fake"}
	if _, err := m.Create(t.Context(), w.project, "cli_x", request); err == nil || !strings.Contains(err.Error(), "limited") {
		t.Errorf("%v", err)
	}
	request.Backend = ""
	made, err := m.Create(t.Context(), w.project, "cli_x", request)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, m, made.ID)
	if err := s.SetBackend(t.Context(), "cli_x", "fake"); err == nil {
		t.Error("the session uses another program")
	}
	if err := s.SetBackend(t.Context(), "cli_x", api.OwnBackend); err != nil {
		t.Error(err)
	}
}

func TestBackendsOf(t *testing.T) {
	limits := subagent.Limits{Backends: []string{"b", "a"}, Agents: map[string]subagent.AgentLimits{"x": {Backends: []string{"c", "a"}}}}
	for _, c := range []struct {
		agent agentdef.Agent
		want  []string
	}{
		{agentdef.Agent{Name: "y"}, []string{"a", "b"}},
		{agentdef.Agent{Name: "y", Tools: []string{}}, nil},
		{agentdef.Agent{Name: "y", Without: []string{"bash"}}, nil},
		{agentdef.Agent{Name: "y", Only: []string{"bash(ls)"}}, nil},
		{agentdef.Agent{Name: "y", Deny: []string{"bash(rm)"}}, nil},
		{agentdef.Agent{Name: "x"}, []string{"a", "b", "c"}},
		{agentdef.Agent{Name: "x", Deny: []string{"bash(rm)"}}, []string{"a", "c"}},
	} {
		if got := limits.BackendsOf(c.agent); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.agent, got, c.want)
		}
	}
}
