package permission_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestACommandOfAnotherTool: its command is judged like one of bash, and rules about the
// tool can only make the verdict stricter.
func TestACommandOfAnotherTool(t *testing.T) {
	tools := permission.Tools{"bash": "command", "execute_skill": ""}
	parse := func(texts ...string) []permission.Rule {
		rules, err := permission.ParseRules(texts, tools)
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	const script = "/skills/x/run.sh a"
	for _, c := range []struct {
		name, command string
		mode          api.Mode
		rules         permission.Rules
		want          permission.Action
	}{
		{"asks", script, api.ModeAsk, permission.Rules{}, permission.Ask},
		{"plan", script, api.ModePlan, permission.Rules{}, permission.Deny},
		{"a rule of bash allows", script, api.ModeAsk, permission.Rules{Allow: parse("bash(/skills/x/run.sh *)")}, permission.Allow},
		{"an allow of the tool does not allow the command", script, api.ModeAsk, permission.Rules{Allow: parse("execute_skill")}, permission.Ask},
		{"the tool is denied", script, api.ModeBypass, permission.Rules{Allow: parse("bash"), Deny: parse("execute_skill")}, permission.Deny},
		{"the tool asks", script, api.ModeAuto, permission.Rules{Allow: parse("bash"), Ask: parse("execute_skill")}, permission.Ask},
		{"bypass does not ask", script, api.ModeBypass, permission.Rules{Ask: parse("execute_skill")}, permission.Allow},
		{"a rule of bash denies", script, api.ModeBypass, permission.Rules{Deny: parse("bash(/skills/x/run.sh *)")}, permission.Deny},
		{"the floor", "rm -rf /", api.ModeBypass, permission.Rules{}, permission.Deny},
	} {
		policy := permission.Policy{Mode: c.mode, Rules: c.rules, Dir: "/work", Home: "/home/x"}
		if v := policy.Judge(permission.Request{Tool: "execute_skill", Writes: true, Command: c.command}); v.Action != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, v.Action, v.Reason, c.want)
		}
	}
}
