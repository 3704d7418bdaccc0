package gate_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestACommandOfAnotherTool: it is judged as one of bash is, and rules about the tool
// can only make it stricter.
func TestACommandOfAnotherTool(t *testing.T) {
	tools := gate.Tools{"bash": "command", "execute_skill": ""}
	parse := func(texts ...string) []gate.Rule {
		rules, err := gate.ParseRules(texts, tools)
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	const script = "/skills/x/run.sh a"
	for _, c := range []struct {
		name, command string
		mode          api.Mode
		rules         gate.Rules
		want          gate.Action
	}{
		{"asks", script, api.ModeAsk, gate.Rules{}, gate.Ask},
		{"plan", script, api.ModePlan, gate.Rules{}, gate.Deny},
		{"a rule of bash allows", script, api.ModeAsk, gate.Rules{Allow: parse("bash(/skills/x/run.sh *)")}, gate.Allow},
		{"the tool's allow is no allow of the command", script, api.ModeAsk, gate.Rules{Allow: parse("execute_skill")}, gate.Ask},
		{"the tool is denied", script, api.ModeBypass, gate.Rules{Allow: parse("bash"), Deny: parse("execute_skill")}, gate.Deny},
		{"the tool asks", script, api.ModeAuto, gate.Rules{Allow: parse("bash"), Ask: parse("execute_skill")}, gate.Ask},
		{"bypass asks nobody", script, api.ModeBypass, gate.Rules{Ask: parse("execute_skill")}, gate.Allow},
		{"a rule of bash denies", script, api.ModeBypass, gate.Rules{Deny: parse("bash(/skills/x/run.sh *)")}, gate.Deny},
		{"the floor", "rm -rf /", api.ModeBypass, gate.Rules{}, gate.Deny},
	} {
		policy := gate.Policy{Mode: c.mode, Rules: c.rules, Dir: "/work", Home: "/home/x"}
		if v := policy.Judge(gate.Request{Tool: "execute_skill", Writes: true, Command: c.command}); v.Action != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, v.Action, v.Reason, c.want)
		}
	}
}
