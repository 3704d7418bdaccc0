package state_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestRulesAreKept: rules are stored by project and kind across a restart; a file from when
// there were only allow rules keeps its meaning.
func TestRulesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "permissions.json")
	if err := os.WriteFile(path, []byte(`{"projects":{"prj_1":["bash(make)"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := loadRules(t, path)
	for _, add := range []struct {
		kind    api.RuleKind
		project string
		rule    string
	}{{api.RuleAllow, "prj_1", "bash(make)"}, {api.RuleAllow, "prj_1", "bash(ls)"}, {api.RuleDeny, "prj_2", "bash"}, {api.RuleAsk, "", "fetch_url"}} {
		if err := rules.Add(add.kind, add.project, []string{add.rule}); err != nil {
			t.Fatal(err)
		}
	}
	rules = loadRules(t, path)
	wantRules(t, rules, api.RuleAllow, "prj_1", "bash(make)", "bash(ls)")
	wantRules(t, rules, api.RuleDeny, "prj_2", "bash")
	wantRules(t, rules, api.RuleAsk, "", "fetch_url")
	wantRules(t, rules, api.RuleAllow, "")
	if got := rules.Projects(); !slices.Equal(got, []string{"prj_1", "prj_2"}) {
		t.Errorf("projects %q", got)
	}
	for _, want := range []bool{true, false} {
		if removed, err := rules.Remove(api.RuleDeny, "prj_2", "bash"); removed != want || err != nil {
			t.Errorf("removed %t, %v, want %t", removed, err, want)
		}
	}
	if removed, err := rules.Remove(api.RuleAllow, "prj_1", "bash(make)"); !removed || err != nil {
		t.Errorf("removed %t, %v", removed, err)
	}
	rules = loadRules(t, path)
	wantRules(t, rules, api.RuleDeny, "prj_2")
	wantRules(t, rules, api.RuleAllow, "prj_1", "bash(ls)")
}

func TestRulesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "permissions.json")
	rules := loadRules(t, path)
	many := make([]string, api.MaxKeptRules)
	for i := range many {
		many[i] = fmt.Sprintf("bash(make %d)", i)
	}
	if err := rules.Add(api.RuleAllow, "prj_1", many); err != nil {
		t.Fatal(err)
	}
	var refused *api.Error
	if err := rules.Add(api.RuleAllow, "prj_1", []string{"bash(one more)"}); !errors.As(err, &refused) || refused.Kind != api.KindTooLarge {
		t.Errorf("got %v", err)
	}
	wantRules(t, loadRules(t, path), api.RuleAllow, "prj_1", many...)
}

func loadRules(t *testing.T, path string) *state.Rules {
	t.Helper()
	rules, err := state.LoadRules(path)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func wantRules(t *testing.T, rules *state.Rules, kind api.RuleKind, project string, want ...string) {
	t.Helper()
	if got := rules.Of(kind, project); !slices.Equal(got, want) {
		t.Errorf("%s in %q: %q, want %q", kind, project, got, want)
	}
}
