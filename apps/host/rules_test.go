package host_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func ruleTexts(rules []api.PermissionRule) string {
	var b strings.Builder
	for _, r := range rules {
		b.WriteString(string(r.Scope) + " " + string(r.Kind) + " " + r.Rule + " " + r.Source + "\n")
	}
	return b.String()
}

// Rules of a project and of the user are listed by what they do, added and taken
// back, told to all, and used.
func TestRulesAreListedAddedAndRemoved(t *testing.T) {
	home := t.TempDir()
	config := "[permissions]\ndeny = [\"bash(rm *)\"]\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, host.Config{Home: home, Projects: []string{t.TempDir(), t.TempDir()}})
	told := make(chan struct{}, 100)
	c := dial(t, h, func(e api.EventEnvelope) {
		if _, ok := e.Event.(api.RulesChanged); ok {
			told <- struct{}{}
		}
	})
	projects := call(t, c, api.ListProjects, api.Empty{}).Projects
	here, there := projects[0].ID, projects[1].ID
	for _, r := range []api.RuleRequest{
		{Rule: "bash(touch *)", Kind: api.RuleAllow, ProjectID: here}, {Rule: "fetch_url", Kind: api.RuleAsk},
		{Rule: " bash ", Kind: api.RuleDeny, ProjectID: there}, {Rule: "bash(touch *)", Kind: api.RuleAllow, ProjectID: here},
	} {
		call(t, c, api.AddRule, r)
		<-told
	}
	list := func(project string) string {
		return ruleTexts(call(t, c, api.ListRules, api.ListRulesRequest{ProjectID: project}).Rules)
	}
	user := "user deny bash(rm *) config.toml\nuser ask fetch_url permissions.json\n"
	if got, want := list(here), "project allow bash(touch *) permissions.json\n"+user; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := list(there), "project deny bash permissions.json\n"+user; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, want := range []bool{true, false} {
		r := api.RuleRequest{Rule: "bash", Kind: api.RuleDeny, ProjectID: there}
		if got := call(t, c, api.RemoveRule, r).Removed; got != want {
			t.Errorf("removed %t, want %t", got, want)
		}
	}
	<-told
	if got := list(there); got != user {
		t.Errorf("got\n%s", got)
	}
	for kind, r := range map[api.Kind]api.RuleRequest{
		api.KindConflict: {Rule: "bash(rm *)", Kind: api.RuleDeny}, api.KindBadRequest: {Rule: "bash(ls)", Kind: "maybe"},
	} {
		_, err := client.Call(t.Context(), c, api.RemoveRule, r)
		wantKind(t, err, kind)
	}
	for kind, r := range map[api.Kind]api.RuleRequest{
		api.KindNotFound: {Rule: "bash(ls)", Kind: api.RuleAllow, ProjectID: "prj_none"}, api.KindBadRequest: {Rule: "Bash(x)", Kind: api.RuleAllow},
	} {
		_, err := client.Call(t.Context(), c, api.AddRule, r)
		wantKind(t, err, kind)
	}
}

// Who may manage adds rules, but none that allows what the modes of a device do not.
func TestGrantsCapRules(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	addToken(t, h, "reader", api.GrantView)
	addToken(t, h, "device", api.AllGrants()...)
	addToken(t, h, "manager", api.GrantView, api.GrantManage)
	device := newHTTPEntry(t, h, "device")
	body := func(rule, kind string) string { return `{"rule":"` + rule + `","kind":"` + kind + `"}` }
	status, answer := newHTTPEntry(t, h, "reader").post("/v1/add_rule", body("bash(make)", "deny"))
	wantHTTP(t, status, answer, 403, api.KindNotAllowed)
	for _, wide := range []string{"bash", "bash(env *)", "write_file(/etc/**)", "bash(tar *)", "bash(git -c *)", "write_file(.git/**)"} {
		status, answer = device.post("/v1/add_rule", body(wide, "allow"))
		wantHTTP(t, status, answer, 403, api.KindNotAllowed)
		if status, answer = device.post("/v1/add_rule", body(wide, "ask")); status != 200 {
			t.Errorf("%s: %d %s", wide, status, answer)
		}
		local := newHTTPEntry(t, h, h.State().Token)
		for _, confirm := range []string{"", "yes", "bash(ls)"} {
			status, answer = local.post("/v1/add_rule", strings.Replace(body(wide, "allow"), "{", `{"confirm":"`+confirm+`",`, 1))
			wantHTTP(t, status, answer, 409, api.KindUnconfirmed)
		}
		if status, answer = local.post("/v1/add_rule", strings.Replace(body(wide, "allow"), "{", `{"confirm":"`+wide+`",`, 1)); status != 200 {
			t.Errorf("%s: %d %s", wide, status, answer)
		}
	}
	if status, answer = device.post("/v1/add_rule", body("bash(go test *)", "allow")); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	manager := newHTTPEntry(t, h, "manager")
	for path, body := range map[string]string{
		"/v1/add_rule": body("bash(make)", "allow"), "/v1/remove_rule": body("bash", "ask"),
	} {
		status, answer = manager.post(path, body)
		wantHTTP(t, status, answer, 403, api.KindNotAllowed)
	}
	if status, answer = manager.post("/v1/add_rule", body("bash(make)", "deny")); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer = manager.post("/v1/remove_rule", body("bash", "allow")); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	if rules := ask[api.ListRulesResponse](newHTTPEntry(t, h, "reader"), "/v1/list_rules", api.Empty{}).Rules; len(rules) != 13 {
		t.Errorf("%d rules\n%s", len(rules), ruleTexts(rules))
	}
}

// TestAChangeOfRulesReleases: what waits continues when a rule is added that allows it, or
// one is taken back that asked.
func TestAChangeOfRulesReleases(t *testing.T) {
	for _, c := range []struct {
		kind        api.RuleKind
		first, then string
		mode        api.Mode
		want        session.Release
	}{
		{api.RuleAllow, "", "add_rule", api.ModeAsk, session.Release{Rules: []string{"bash(touch *)"}}},
		{api.RuleAsk, "add_rule", "remove_rule", api.ModeAuto, session.Release{Mode: "auto"}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := newScene(t, nil, modeltest.Calls(modeltest.Call("c1", "bash", `{"command":"touch a"}`)), modeltest.Say("done"))
			h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
			s.enter(t, h)
			asked, resolved := make(chan struct{}, 1), make(chan api.ApprovalResolved, 1)
			watcher := dial(t, h, func(e api.EventEnvelope) {
				switch e := e.Event.(type) {
				case api.ApprovalRequested:
					asked <- struct{}{}
				case api.ApprovalResolved:
					resolved <- e
				}
			})
			call(t, watcher, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.sessionID})
			change := func(name string) {
				t.Helper()
				rule := api.RuleRequest{Rule: "bash(touch *)", Kind: c.kind}
				if name == "add_rule" {
					call(t, s.c, api.AddRule, rule)
				} else if name == "remove_rule" {
					call(t, s.c, api.RemoveRule, rule)
				}
			}
			change(c.first)
			call(t, s.c, api.SetMode, api.SetModeRequest{SessionID: s.sessionID, Mode: c.mode})
			call(t, s.c, api.SendPrompt, api.SendPromptRequest{SessionID: s.sessionID, ClientKey: "k1", Text: "go"})
			<-asked
			change(c.then)
			if e := <-resolved; e.Decision != api.DecisionAllow || e.Released == nil || !reflect.DeepEqual(*e.Released, c.want) {
				t.Fatalf("%+v, %+v", e, e.Released)
			}
			s.wait(1)
		})
	}
}
