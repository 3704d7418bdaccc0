package backend_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestSwitch changes the backend between turns: each gets what it has missed, once.
func TestSwitch(t *testing.T) {
	w := newWorld(t)
	w.model = modeltest.New(modeltest.Say("the own agent speaks"), modeltest.Say("once more"))
	s := w.session("fake")
	s.ok("call c1 execute make\nrun c1\nsay meanwhile\ndone c1 made")
	choose := func(name string) {
		t.Helper()
		if err := s.SetBackend(t.Context(), "cli_x", name); err != nil {
			t.Fatal(err)
		}
	}
	choose("other")
	s.ok("recall")
	if said := s.said(); !strings.Contains(said, "Result of acp_execute: made") || !strings.Contains(said, "Agent: meanwhile") {
		t.Errorf("the other agent knows %q", said)
	}
	choose(api.OwnBackend)
	if ended := s.run("and you?"); ended.StopReason != session.StopEnd {
		t.Fatalf("%+v", ended)
	}
	asked := w.model.Requests()[0].Messages
	if len(asked) < 3 || asked[1].Role != session.RoleAssistant || asked[2].Role != session.RoleToolResult || asked[2].Content.Plain() != "made" {
		t.Errorf("the own agent is asked with %+v", asked)
	}
	choose("fake")
	s.ok("recall")
	all := s.records(session.BackendSession)
	if last := all[len(all)-1]; last.AgentSession != all[0].AgentSession || last.Rebuilt != 4 {
		t.Errorf("%+v", all)
	}
	if said := s.said(); !strings.Contains(said, "Agent: the own agent speaks") {
		t.Errorf("the first agent knows %q", said)
	}
	s.ok("say nothing was missed")
	if all = s.records(session.BackendSession); all[len(all)-1].Rebuilt != 0 {
		t.Errorf("%+v", all[len(all)-1])
	}
	s.check()
}

// TestRewind goes back before a turn that the agent's session has: it begins a new one.
func TestRewind(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.ok("say one")
	s.ok("say two")
	var second string
	for _, e := range s.entries {
		if m, ok := e.AsMessage(); ok && m.Message.Role == session.RoleUser {
			second = e.ID
		}
	}
	if _, err := s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{SessionID: s.id, TargetEntryID: second, ExpectedLeaf: s.entries[len(s.entries)-1].ID, ClientKey: "rewind"}); err != nil {
		t.Fatal(err)
	}
	s.ok("recall")
	all := s.records(session.BackendSession)
	if last := all[len(all)-1]; last.AgentSession == all[0].AgentSession || last.Rebuilt != 2 {
		t.Errorf("%+v", all)
	}
	if said := s.said(); !strings.Contains(said, "Agent: one") || strings.Contains(said, "Agent: two") {
		t.Errorf("said %q", said)
	}
}
