package chat

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestOffersOfServers: resources and prompts of MCP servers complete a word, and a prompt uses them.
func TestOffersOfServers(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "bank", Version: "1"}, nil)
	s.AddResource(&sdk.Resource{URI: "doc://rules", Name: "rules", Title: "House rules"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "doc://rules", Text: "No shoes inside."}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "tidy", Description: "Tidies a room.", Arguments: []*sdk.PromptArgument{{Name: "room", Required: true}, {Name: "style"}}}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{}, nil
	})
	w := newWorld(t)
	w.withServer(s)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	w.write("/mcp")
	w.until("the prompt", func(screen string) bool {
		return strings.Contains(screen, "/mcp__bank__tidy ROOM [STYLE]") && strings.Contains(screen, "Tidies a room.")
	})
	w.key('c', tea.ModCtrl)
	w.write("see @rul")
	w.until("the resource", func(screen string) bool {
		return strings.Contains(screen, "bank:doc://rules") && strings.Contains(screen, "House rules")
	})
	w.key(tea.KeyTab, 0)
	if got := w.model.field.editor.Text(); got != "see @bank:doc://rules " {
		t.Fatalf("the field has %q", got)
	}
	w.key(tea.KeyEnter, 0)
	w.await("attached the resource doc://rules of the MCP server bank")
	w.idle()
}
