package crew_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/preset"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAChildKeepsToItsPatterns: what a preset may use for some calls only it uses for no
// other, though every call is allowed with the prompt and the mode asks nobody.
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
	w.presets = []preset.Agent{{
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
	_, kid := open(t, m, records[session.CrewRecord](t, watch, session.CustomCrew)[1].Members[0].SessionID)
	for i, c := range calls {
		result := oneResult(t, kid, fmt.Sprintf("r%d", i))
		text := result.Content.Plain()
		if failed := result.IsError != nil && *result.IsError; failed == c.runs || failed && !strings.HasPrefix(text, agent.TextForbidden) {
			t.Errorf("%s %s: %s", c.tool, c.args, text)
		}
	}
	if told := child.Requests()[0].System; !strings.Contains(told, "only the calls that it allows: bash(touch *), read_file(*.txt)") || !strings.Contains(told, "may not make these calls: read_file(secret.txt), grep") {
		t.Errorf("the child is told %s", told)
	}
}
