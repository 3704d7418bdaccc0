package state_test

import (
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

func loadName(t *testing.T, path, fixed string) *state.Name {
	t.Helper()
	name, err := state.LoadName(path, fixed, "vm")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestName: a name from outside comes first, then the chosen one, which stays, then the
// machine's own.
func TestName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "name.json")
	name := loadName(t, path, "")
	if name.Chosen() || name.Current() != "vm" {
		t.Errorf("at first: %q, chosen %t", name.Current(), name.Chosen())
	}
	if changed, err := name.Choose("vm"); err != nil || changed || !name.Chosen() {
		t.Errorf("confirming the host name: changed %t, %v", changed, err)
	}
	if changed, err := name.Choose("desk"); err != nil || !changed || name.Current() != "desk" {
		t.Errorf("choosing: changed %t, %v, then %q", changed, err, name.Current())
	}
	if again := loadName(t, path, ""); !again.Chosen() || again.Current() != "desk" {
		t.Errorf("after a restart: %q", again.Current())
	}
	fixed := loadName(t, path, "workshop")
	if _, err := fixed.Choose("other"); err == nil || !fixed.Chosen() || fixed.Current() != "workshop" {
		t.Errorf("a fixed name: %v, then %q", err, fixed.Current())
	}
}
