package tool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// host is the journal, permission check and sink of a turn, and allows everything.
type host struct {
	messages []session.Message
	asked    []string
	output   strings.Builder
}

func (h *host) Append(_ context.Context, m session.Message) error {
	h.messages = append(h.messages, m)
	return nil
}

func (h *host) Ask(_ context.Context, _ agent.Call, what agent.Description) (api.Decision, error) {
	h.asked = append(h.asked, what.Title)
	return api.DecisionAllow, nil
}

func (h *host) Emit(event api.Event) {
	if e, ok := event.(api.ToolOutput); ok {
		h.output.WriteString(e.Delta)
	}
}

// TestDemoTurn: the demo model drives the real tools through the real loop.
func TestDemoTurn(t *testing.T) {
	dir := project(t, map[string]string{"README.md": "# Title\n"})
	demo, err := model.New(model.Config{Type: model.TypeDemo})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{}
	tools := open(t, Options{}, Scope{}).Tools()
	outcome := agent.RunTurn(t.Context(), agent.Turn{
		Model: demo, Tools: tools, Journal: h, Gate: h, Sink: h, System: agent.SystemPrompt(tools, dir, agent.ProjectContext{}), Cwd: dir,
		Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{
			session.Text("read README.md\nlist\nwrite a/new.txt: hello\nrun cat a/new.txt\ngrep hello\nfind *.txt")}}},
	})
	if outcome.StopReason != session.StopEnd {
		t.Fatalf("%+v", outcome)
	}
	var got []string
	for _, m := range h.messages {
		if m.Role == session.RoleToolResult {
			got = append(got, m.Content.Plain())
		}
	}
	path := filepath.Join("a", "new.txt")
	want := []string{"1|# Title\n", "README.md (8 bytes)\n", "Created a/new.txt: 1 lines, 6 bytes.", "hello\n", path + ":1:hello\n", path + "\n"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("results %q, want %q", got, want)
	}
	if want := "Create a/new.txt (6 bytes)|Run cat a/new.txt"; strings.Join(h.asked, "|") != want {
		t.Errorf("asked %q", h.asked)
	}
	if h.output.String() != "hello\n" {
		t.Errorf("people saw %q", h.output.String())
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a", "new.txt")); err != nil || string(data) != "hello\n" {
		t.Errorf("%q %v", data, err)
	}
}
