package subagent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAChildKeepsToItsPatterns: patterns in an agent definition limit its tools, even if
// the prompt allows every call and the mode never asks.
func TestAChildKeepsToItsPatterns(t *testing.T) {
	calls := []struct {
		tool, args string
		runs       bool
	}{
		{"bash", `{"command":"touch made-one"}`, true},
		{"bash", `{"command":"touch made-two; rm made-one"}`, false},
		{"bash", `{"command":"touch made-three > other"}`, false},
		{"bash", `{"command":"cat secret.txt"}`, false},
		{"read_file", `{"path":"open.txt"}`, true},
		{"read_file", `{"path":"secret.txt"}`, false},
		{"grep", `{"pattern":"the"}`, false},
		{"list_dir", `{"path":"."}`, true},
	}
	var steps []modeltest.Step
	for i, c := range calls {
		steps = append(steps, modeltest.Calls(modeltest.Call(fmt.Sprintf("r%d", i), c.tool, c.args)))
	}
	child := modeltest.New(append(steps, modeltest.Say("the report"))...)
	parent := modeltest.New(modeltest.Calls(modeltest.Call("c1", "delegate_task", `{"agent":"narrow","title":"one","prompt":"one"}`)), modeltest.Say("done"))
	w := newWorld(t, casting{"go": parent, "one": child})
	w.custom = []agentdef.Agent{{
		Name: "narrow", Description: "Does little.", Tools: []string{"bash", "grep", "list_dir", "read_file"},
		Only: []string{"bash(touch *)", "read_file(*.txt)"}, Deny: []string{"read_file(secret.txt)", "grep"},
	}}
	for _, name := range []string{"open.txt", "secret.txt"} {
		if err := os.WriteFile(filepath.Join(w.project.Path, name), []byte("the content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := w.manager(t)
	s, watch := w.begin(t, m)
	if err := s.SetMode(t.Context(), "cli_x", api.ModeBypass); err != nil {
		t.Fatal(err)
	}
	ask(t, s, api.SendPromptRequest{Text: "go", AllowAll: true})
	watch.waitEnd(1)
	_, kid := open(t, m, lastSubagents(t, watch).Members[0].SessionID)
	for i, c := range calls {
		result := oneResult(t, kid, fmt.Sprintf("r%d", i))
		text := result.Content.Plain()
		if failed := result.IsError != nil && *result.IsError; failed == c.runs || failed && !strings.HasPrefix(text, agent.TextForbidden) {
			t.Errorf("%s %s: %s", c.tool, c.args, text)
		}
	}
	if told := child.Requests()[0].System; !strings.Contains(told, "only for the calls that it allows: bash(touch *), read_file(*.txt)") || !strings.Contains(told, "may not make these calls: read_file(secret.txt), grep") {
		t.Errorf("the child receives %s", told)
	}
}

// TestAChildWithoutToolsHasNone: an empty list of tools reaches the child, and its model is
// offered none.
func TestAChildWithoutToolsHasNone(t *testing.T) {
	child := modeltest.New(modeltest.Calls(modeltest.Call("r1", "bash", `{"command":"touch made"}`)), modeltest.Say("the report"))
	parent := modeltest.New(modeltest.Calls(modeltest.Call("c1", "delegate_task", `{"agent":"mute","title":"one","prompt":"one"}`)), modeltest.Say("done"))
	w := newWorld(t, casting{"go": parent, "one": child})
	w.custom = []agentdef.Agent{{Name: "mute", Description: "Only answers.", Tools: []string{}}}
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go", AllowAll: true})
	watch.waitEnd(1)
	if tools := child.Requests()[0].Tools; len(tools) > 0 {
		t.Errorf("the child is offered %d tools", len(tools))
	}
	if _, err := os.Stat(filepath.Join(w.project.Path, "made")); err == nil {
		t.Error("the child ran a command")
	}
	_, kid := open(t, m, lastSubagents(t, watch).Members[0].SessionID)
	record := records[session.ChildRecord](t, kid, session.CustomChild)[0]
	if record.Tools == nil || len(record.Tools) > 0 || !slices.Contains(record.Without, "*") {
		t.Errorf("the record says %#v without %q", record.Tools, record.Without)
	}
}
