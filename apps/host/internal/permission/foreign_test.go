package permission_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestToolsOfServers: only the mode auto trusts what an MCP server declares about its
// tools.
func TestToolsOfServers(t *testing.T) {
	const name = "mcp__mail__send"
	rules, err := permission.ParseRules([]string{name}, permission.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		mode  api.Mode
		reads bool
		rules permission.Rules
		want  permission.Action
	}{
		{"auto, says nothing", api.ModeAuto, false, permission.Rules{}, permission.Ask},
		{"auto, says it reads", api.ModeAuto, true, permission.Rules{}, permission.Allow},
		{"auto, a rule allows", api.ModeAuto, false, permission.Rules{Allow: rules}, permission.Allow},
		{"auto, a rule asks", api.ModeAuto, true, permission.Rules{Ask: rules}, permission.Ask},
		{"auto, a rule denies", api.ModeAuto, true, permission.Rules{Deny: rules}, permission.Deny},
		{"ask, says it reads", api.ModeAsk, true, permission.Rules{}, permission.Ask},
		{"accept-edits, says it reads", api.ModeAcceptEdits, true, permission.Rules{}, permission.Ask},
		{"plan, says it reads", api.ModePlan, true, permission.Rules{}, permission.Deny},
		{"bypass, says nothing", api.ModeBypass, false, permission.Rules{}, permission.Allow},
	} {
		policy := permission.Policy{Mode: c.mode, Rules: c.rules, Dir: "/work", Home: "/home/x"}
		v := policy.Judge(permission.Request{Tool: name, Writes: true, Foreign: true, ReadOnly: c.reads})
		if v.Action != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, v.Action, v.Reason, c.want)
		}
		if v.Action == permission.Ask && c.rules.Ask == nil && (len(v.Propose) != 1 || v.Propose[0] != name) {
			t.Errorf("%s: proposes %q", c.name, v.Propose)
		}
	}
}
