package hook_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestExamplesOfTheDocument: each example of docs/hooks.md leads to what the page says.
func TestExamplesOfTheDocument(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)<!-- example: (\\w+) (\\{.*?\\}) -> (\\w+): (.*?) -->\n```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(examples) < 5 {
		t.Fatalf("found %d examples", len(examples))
	}
	for _, e := range examples {
		event, input, outcome, text, kind, content := api.HookEvent(e[1]), e[2], e[3], e[4], e[5], e[6]
		w := newWorld(t)
		w.write(t, map[string]string{"toml": hook.SourceProject, "json": hook.SourceClaude}[kind], content)
		w.only(t)
		w.allow(t)
		var in struct {
			Tool   string          `json:"tool_name"`
			Args   json.RawMessage `json:"tool_input"`
			Prompt string          `json:"prompt"`
		}
		if err := json.Unmarshal([]byte(input), &in); err != nil {
			t.Fatal(err)
		}
		got := w.one(t, event, hook.Input{Tool: in.Tool, Args: in.Args, Prompt: in.Prompt})
		if string(got.Outcome) != outcome || !strings.HasPrefix(got.Reason+got.Context, text) {
			t.Errorf("%s\n%+v, want %s: %s", content, got, outcome, text)
		}
		none := w.run(t, event, hook.Input{Tool: "glob", Args: json.RawMessage(`{}`), Prompt: "hello"})
		if event != api.HookPrompt && len(none) != 0 {
			t.Errorf("%s\nruns for another tool: %+v", content, none)
		}
	}
}
