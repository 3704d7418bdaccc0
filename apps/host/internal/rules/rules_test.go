package rules_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/rules"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// world is a host with requests about rules.
type world struct {
	*dispatchtest.Host
	permissions  *rules.Permissions
	announced    int      // rules that Allow kept
	reconsidered []string // projects whose waiting calls are judged again
}

func (w *world) Reconsider(projectID, _ string) { w.reconsidered = append(w.reconsidered, projectID) }

func newWorld(t *testing.T, config state.Permissions) *world {
	t.Helper()
	w := &world{Host: dispatchtest.New(t)}
	var err error
	w.permissions, err = rules.Load(w.Paths, config, tool.NewCatalog(tool.Options{}), rules.Confinement{PrivateHidden: true}, func() { w.announced++ })
	if err != nil {
		t.Fatal(err)
	}
	w.Serve(rules.NewRequests(w.Log, w.permissions, w.Projects, w.Hub, w).Endpoints())
	return w
}

func texts(list []permission.Rule) (texts []string) {
	for _, rule := range list {
		texts = append(texts, rule.String())
	}
	return texts
}

func TestInvalidRulesOfTheConfiguration(t *testing.T) {
	for name, config := range map[string]state.Permissions{
		"an unknown tool":   {Allow: []string{"fly(north)"}},
		"no subject":        {Ask: []string{"todo(x)"}},
		"an open bracket":   {Deny: []string{"bash(rm"}},
		"one of two is bad": {Deny: []string{"bash(rm *)", ""}},
	} {
		_, err := rules.Load(state.Paths{Home: t.TempDir()}, config, tool.NewCatalog(tool.Options{}), rules.Confinement{}, func() {})
		var misconfigured *state.ConfigError
		if !errors.As(err, &misconfigured) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPolicyOfASession: it has the rules of config.toml, of its project and of all projects,
// not those of other projects, none of a tool that is gone, and what is known about
// confinement.
func TestPolicyOfASession(t *testing.T) {
	w := newWorld(t, state.Permissions{Deny: []string{"bash(rm *)"}})
	here, there := w.AddProject(), w.AddProject()
	for project, rule := range map[string]string{here.ID: "bash(go test *)", there.ID: "bash(npm test)", "": "fetch_url(domain:example.com)"} {
		if err := w.permissions.Allow(project, []string{rule, "removed_tool(x)"}); err != nil {
			t.Fatal(err)
		}
	}
	policy := w.permissions.Policy(here, "s")
	if got, want := texts(policy.Rules.Allow), []string{"bash(go test *)", "fetch_url(domain:example.com)"}; !slices.Equal(got, want) {
		t.Errorf("it allows %q, want %q", got, want)
	}
	if got, want := texts(policy.Rules.Deny), []string{"bash(rm *)"}; !slices.Equal(got, want) {
		t.Errorf("it denies %q, want %q", got, want)
	}
	if policy.Dir != here.Path || !policy.PrivateHidden || policy.UnconfinedRoot || len(policy.Private) != 1 || len(policy.Open) != 1 {
		t.Errorf("the policy is %+v", policy)
	}
	if w.announced != 3 {
		t.Errorf("%d changes were announced", w.announced)
	}
}

// TestARuleIsKept: it is listed, in force at once and after a restart, and removed; the calls
// that wait are judged again whenever more is allowed.
func TestARuleIsKept(t *testing.T) {
	w := newWorld(t, state.Permissions{Ask: []string{"write_file"}})
	project := w.AddProject()
	local := w.Local()
	rule := api.RuleRequest{Rule: " bash(go test ./...) ", Kind: api.RuleAllow, ProjectID: project.ID}
	added := dispatchtest.Call(t, local, api.AddRule, rule).Rule
	want := api.PermissionRule{Rule: "bash(go test ./...)", Kind: api.RuleAllow, Scope: api.ScopeProject, ProjectID: project.ID, Source: api.RulesKept}
	if added != want {
		t.Errorf("added %+v, want %+v", added, want)
	}
	if got := <-local.Events; got != (api.RulesChanged{}).EventType() {
		t.Errorf("the clients were sent %s", got)
	}
	dispatchtest.Call(t, local, api.AddRule, api.RuleRequest{Rule: "bash(git push *)", Kind: api.RuleDeny})
	list := dispatchtest.Call(t, local, api.ListRules, api.ListRulesRequest{ProjectID: project.ID}).Rules
	var got []string
	for _, r := range list {
		got = append(got, string(r.Scope)+" "+string(r.Kind)+" "+r.Rule+" "+r.Source)
	}
	if want := []string{
		"project allow bash(go test ./...) " + api.RulesKept, "user deny bash(git push *) " + api.RulesKept, "user ask write_file " + api.RulesConfig,
	}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	again, err := rules.Load(w.Paths, state.Permissions{}, tool.NewCatalog(tool.Options{}), rules.Confinement{}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(again.Policy(project, "s").Rules.Allow); !slices.Equal(got, []string{added.Rule}) {
		t.Errorf("after a restart it allows %q", got)
	}
	for _, removed := range []bool{true, false} {
		request := api.RuleRequest{Rule: "bash(git push *)", Kind: api.RuleDeny}
		if got := dispatchtest.Call(t, local, api.RemoveRule, request).Removed; got != removed {
			t.Errorf("removed %v, want %v", got, removed)
		}
	}
	if want := []string{project.ID, ""}; !slices.Equal(w.reconsidered, want) {
		t.Errorf("judged again: %q, want %q", w.reconsidered, want)
	}
}

func TestRefusedRules(t *testing.T) {
	w := newWorld(t, state.Permissions{Ask: []string{"write_file"}})
	local, manager := w.Local(), w.Connect("device", api.GrantManage)
	for name, c := range map[string]struct {
		rule api.RuleRequest
		kind api.Kind
	}{
		"an unknown kind":         {api.RuleRequest{Rule: "bash(ls)", Kind: "maybe"}, api.KindBadRequest},
		"an unknown tool":         {api.RuleRequest{Rule: "fly(north)", Kind: api.RuleDeny}, api.KindBadRequest},
		"an unknown project":      {api.RuleRequest{Rule: "bash(ls)", Kind: api.RuleDeny, ProjectID: "prj_none"}, api.KindNotFound},
		"a wide rule":             {api.RuleRequest{Rule: "bash", Kind: api.RuleAllow}, api.KindUnconfirmed},
		"another rule confirmed":  {api.RuleRequest{Rule: "bash", Kind: api.RuleAllow, Confirm: "bash(ls)"}, api.KindUnconfirmed},
		"a file above the folder": {api.RuleRequest{Rule: "write_file(/etc/*)", Kind: api.RuleAllow}, api.KindUnconfirmed},
	} {
		t.Run(name, func(t *testing.T) { dispatchtest.Refused(t, local, api.AddRule, c.rule, c.kind) })
	}
	dispatchtest.Refused(t, local, api.RemoveRule, api.RuleRequest{Rule: "write_file", Kind: api.RuleAsk}, api.KindConflict)
	dispatchtest.Refused(t, manager, api.AddRule, api.RuleRequest{Rule: "bash(ls)", Kind: api.RuleAllow}, api.KindNotAllowed)
	dispatchtest.Refused(t, manager, api.RemoveRule, api.RuleRequest{Rule: "write_file", Kind: api.RuleAsk}, api.KindNotAllowed)
	dispatchtest.Call(t, manager, api.AddRule, api.RuleRequest{Rule: "bash(ls)", Kind: api.RuleDeny})
	dispatchtest.Call(t, local, api.AddRule, api.RuleRequest{Rule: "bash", Kind: api.RuleAllow, Confirm: "bash"})
}

// TestAWideRuleNeedsItsOwnGrant: a paired client adds one only with the grant for rules.
func TestAWideRuleNeedsItsOwnGrant(t *testing.T) {
	w := newWorld(t, state.Permissions{})
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Clients.Add(keys.ID(), keys.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	phone := w.Connect(keys.ID().String(), api.AllGrants()...)
	wide := api.RuleRequest{Rule: "bash", Kind: api.RuleAllow, Confirm: "bash"}
	dispatchtest.Refused(t, phone, api.AddRule, wide, api.KindNotAllowed)
	if _, _, _, err := w.Clients.SetGrant(keys.ID(), api.GrantRules, true, func(state.Client) error { return nil }); err != nil {
		t.Fatal(err)
	}
	w.Hub.RefreshAccess(keys.ID().String())
	dispatchtest.Call(t, phone, api.AddRule, wide)
}
