package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// TestAPlatformIsServedOnce: the position of a bot is in one file of the home, so a second process is
// refused before it connects.
func TestAPlatformIsServedOnce(t *testing.T) {
	home := t.TempDir()
	lock, err := state.Acquire(filepath.Join(state.Paths{Home: home}.Served(), "telegram.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}()
	err = host.ServeChannel(t.Context(), host.ServedChannel{
		Home: home, Kind: "telegram", Allow: []string{"4711"}, Getenv: func(string) string { return "1:token" },
	})
	if err == nil || !strings.Contains(err.Error(), "another process already serves Telegram with this home: stop it first") {
		t.Errorf("a second one: %v", err)
	}
}
