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

// TestACallLikeThoseOfSeveralTools: the strictest of their rules counts, and all that allow are named.
func TestACallLikeThoseOfSeveralTools(t *testing.T) {
	tools := permission.Tools{"patch": "path", "write_file": "path"}
	parse := func(texts ...string) []permission.Rule {
		rules, err := permission.ParseRules(texts, tools)
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	rules := permission.Rules{
		Deny:  parse("patch(a/**)", "write_file(b/**)"),
		Ask:   parse("patch(c/**)", "write_file(d/**)"),
		Allow: parse("patch(e/**)", "write_file(e/**)", "patch(f/**)", "write_file(g/**)"),
	}
	for path, want := range map[string]permission.Action{
		"a/x": permission.Deny, "b/x": permission.Deny, "c/x": permission.Ask, "d/x": permission.Ask, "e/x": permission.Allow,
		"f/x": permission.Ask, "g/x": permission.Ask, "h/x": permission.Ask,
	} {
		policy := permission.Policy{Mode: api.ModeAsk, Rules: rules, Dir: "/work"}
		v := policy.Judge(permission.Request{Tool: "patch", As: []string{"write_file"}, Subject: "path", Writes: true, Paths: []string{path}})
		if v.Action != want || len(v.Propose) != 0 {
			t.Errorf("%s: %+v, want %v", path, v, want)
		}
		if want == permission.Allow && len(v.Rules) != 2 {
			t.Errorf("%s: allowed by %q", path, v.Rules)
		}
	}
}
