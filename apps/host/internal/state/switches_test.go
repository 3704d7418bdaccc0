package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

// TestSwitches: the switch of a project comes before that of every project, and both survive.
func TestSwitches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "switches.json")
	load := func() *state.Switches {
		t.Helper()
		s, err := state.LoadSwitches(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := load()
	set := func(project string, enabled bool) {
		t.Helper()
		if err := s.Set(state.SwitchSkill, "pdf", project, enabled); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, every, site, other bool) {
		t.Helper()
		for _, have := range []*state.Switches{s, load()} {
			for project, want := range map[string]bool{"": every, "/site": site, "/other": other} {
				if got := have.Enabled(state.SwitchSkill, "pdf", project); got != want {
					t.Errorf("%s: enabled in %q: %t", when, project, got)
				}
			}
			if !have.Enabled(state.SwitchServer, "pdf", "/site") || !have.Enabled(state.SwitchSkill, "csv", "/site") {
				t.Errorf("%s: something else is disabled", when)
			}
		}
	}
	expect("at first", true, true, true)
	set("/site", false)
	expect("disabled in a project", true, false, true)
	set("", false)
	set("/site", true)
	expect("disabled except in a project", false, true, false)
	set("", true)
	expect("enabled again", true, true, true)
	set("", false)
	set("/other", true)
	if err := s.Forget(state.SwitchSkill, "pdf", ""); err != nil {
		t.Fatal(err)
	}
	expect("forgotten", true, true, true)
	var none *state.Switches
	if !none.Enabled(state.SwitchSkill, "pdf", "") {
		t.Error("without switches something is disabled")
	}
	if err := os.WriteFile(path, []byte("null"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := state.LoadSwitches(path); err == nil {
		t.Error("a damaged file was read as an empty one")
	}
}
