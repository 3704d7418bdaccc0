package agent_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestPreviewSystem(t *testing.T) {
	project := agent.ProjectContext{Instructions: session.Instructions{Files: []session.InstructionFile{{Path: "/p/AGENTS.md", Content: "# Mine\n\nread me\n\n# Tools\n\nnone"}}}}
	system := agent.SystemPrompt([]agent.Tool{echo("read_file", agent.RiskRead)}, "/p", project)
	parts := agent.PreviewSystem(system)
	var names []string
	var all strings.Builder
	for _, part := range parts {
		names = append(names, part.Name)
		all.WriteString(part.Text)
		if part.Tokens <= 0 {
			t.Errorf("the part %q counts nothing", part.Name)
		}
	}
	if got := strings.Join(names, "|"); got != "|Tools|How to work|Instructions" {
		t.Errorf("the parts are %s", got)
	}
	for _, word := range []string{"You are scorel", "/p/AGENTS.md", "# Mine", "Answer briefly"} {
		if !strings.Contains(all.String(), word) {
			t.Errorf("%q is missing", word)
		}
	}
	if len(agent.PreviewSystem("")) != 0 || len(agent.PreviewSystem("just text")) != 1 {
		t.Error("a prompt without headings")
	}
}
