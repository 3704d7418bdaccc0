package gate_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestToolsOfServers: what an MCP server says of its own tools counts in the mode auto,
// and in no other.
func TestToolsOfServers(t *testing.T) {
	const name = "mcp__mail__send"
	rules, err := gate.ParseRules([]string{name}, gate.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		mode  api.Mode
		reads bool
		rules gate.Rules
		want  gate.Action
	}{
		{"auto, says nothing", api.ModeAuto, false, gate.Rules{}, gate.Ask},
		{"auto, says it reads", api.ModeAuto, true, gate.Rules{}, gate.Allow},
		{"auto, a rule allows", api.ModeAuto, false, gate.Rules{Allow: rules}, gate.Allow},
		{"auto, a rule asks", api.ModeAuto, true, gate.Rules{Ask: rules}, gate.Ask},
		{"auto, a rule denies", api.ModeAuto, true, gate.Rules{Deny: rules}, gate.Deny},
		{"ask, says it reads", api.ModeAsk, true, gate.Rules{}, gate.Ask},
		{"accept-edits, says it reads", api.ModeAcceptEdits, true, gate.Rules{}, gate.Ask},
		{"plan, says it reads", api.ModePlan, true, gate.Rules{}, gate.Deny},
		{"bypass, says nothing", api.ModeBypass, false, gate.Rules{}, gate.Allow},
	} {
		policy := gate.Policy{Mode: c.mode, Rules: c.rules, Dir: "/work", Home: "/home/x"}
		v := policy.Judge(gate.Request{Tool: name, Writes: true, Foreign: true, ReadOnly: c.reads})
		if v.Action != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, v.Action, v.Reason, c.want)
		}
		if v.Action == gate.Ask && c.rules.Ask == nil && (len(v.Propose) != 1 || v.Propose[0] != name) {
			t.Errorf("%s: proposes %q", c.name, v.Propose)
		}
	}
}
