package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

func TestWhatAServerSaysOfATool(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		says  *sdk.ToolAnnotations
		reads bool
	}{
		"nothing":           {nil, false},
		"an empty one":      {&sdk.ToolAnnotations{}, false},
		"reads":             {&sdk.ToolAnnotations{ReadOnlyHint: true}, true},
		"reads, no harm":    {&sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}, true},
		"reads and harms":   {&sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}, false},
		"only does no harm": {&sdk.ToolAnnotations{DestructiveHint: &no}, false},
	} {
		if got := readsOnly(c.says); got != c.reads {
			t.Errorf("%s: %v", name, got)
		}
		tool := remoteTool{server: &server{}, remote: "x", reads: c.reads}
		if what := tool.Describe(agent.Call{}); !what.Foreign || what.ReadOnly != c.reads || tool.Risk() != agent.RiskWrite {
			t.Errorf("%s: %+v", name, what)
		}
	}
}
