package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func noEnv(string) string { return "" }

// save keeps a key in the file of a home.
func save(t *testing.T, home, variable, value string) {
	t.Helper()
	if at, err := secrets.Save(t.Context(), home, variable, value, state.InFile); err != nil || at != state.InFile {
		t.Fatalf("saved in %q, %v", at, err)
	}
}

// TestEnvironmentHasSavedKeys, and a variable that is set wins over a saved key.
func TestEnvironmentHasSavedKeys(t *testing.T) {
	home := t.TempDir()
	save(t, home, "OPENAI_API_KEY", "saved")
	save(t, home, "GEMINI_API_KEY", "saved too")
	set := func(name string) string { return map[string]string{"GEMINI_API_KEY": "set", "HOME": "/home/me"}[name] }
	getenv, err := secrets.Environment(home, set, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"OPENAI_API_KEY": "saved", "GEMINI_API_KEY": "set", "HOME": "/home/me", "ANTHROPIC_API_KEY": ""} {
		if got := getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestKeyVariable(t *testing.T) {
	home := t.TempDir()
	config := "[providers.mine]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"MY_KEY\"\n[models.m]\nprovider = \"mine\"\nid = \"x\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mine": "MY_KEY", "anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "SOME_KEY": "SOME_KEY",
	} {
		if got, err := secrets.KeyVariable(home, name, noEnv); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "groq", "lower_case", "1KEY", "A-KEY", "KEY\n", "SCOREL_PROVIDER_AB"} {
		if got, err := secrets.KeyVariable(home, name, noEnv); !errors.Is(err, secrets.ErrKeyName) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	// A key that its provider left behind can be named, so that it can be removed.
	const left = "SCOREL_PROVIDER_AB"
	if _, err := secrets.Save(t.Context(), home, left, "k", state.InFile); err != nil {
		t.Fatal(err)
	}
	if got, err := secrets.KeyVariable(home, left, noEnv); err != nil || got != left {
		t.Errorf("%s: %q, %v", left, got, err)
	}
}

// TestSecretsAreListedWithoutTheirValues: identities that exist, and saved keys by name; a
// key that was removed is gone.
func TestSecretsAreListedWithoutTheirValues(t *testing.T) {
	home := t.TempDir()
	if list, err := secrets.List(home); err != nil || len(list) != 0 {
		t.Errorf("an empty home has %+v, %v", list, err)
	}
	if _, err := keyfile.LoadOrCreate(state.Paths{Home: home}.Identity(), ident.KindDevice); err != nil {
		t.Fatal(err)
	}
	save(t, home, "OPENAI_API_KEY", "first")
	save(t, home, "OPENAI_API_KEY", "second")
	want := []secrets.Info{{Name: "host identity", Store: state.InFile}, {Name: "OPENAI_API_KEY", Store: state.InFile}}
	if list, err := secrets.List(home); err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("listed %+v, %v, want %+v", list, err, want)
	}
	if saved, err := secrets.Saved(home); err != nil || !reflect.DeepEqual(saved, want[1:]) {
		t.Errorf("saved %+v, %v", saved, err)
	}
	const token = "SCOREL_CHANNEL_ABC_APP_TOKEN" // of a chat channel, which is no key of a provider
	save(t, home, token, "secret")
	if saved, err := secrets.Saved(home); err != nil || !reflect.DeepEqual(saved, want[1:]) {
		t.Errorf("with a chat channel: saved %+v, %v", saved, err)
	}
	channel := secrets.Info{Name: "channel chn_abc: app-token", Store: state.InFile}
	if list, err := secrets.List(home); err != nil || !reflect.DeepEqual(list, append(slices.Clone(want), channel)) {
		t.Errorf("with a chat channel: listed %+v, %v", list, err)
	}
	if _, err := secrets.KeyVariable(home, token, func(string) string { return "" }); !errors.Is(err, secrets.ErrKeyName) {
		t.Errorf("the name of its secret is taken as a key: %v", err)
	}
	if _, err := secrets.Remove(t.Context(), home, token); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if got, err := secrets.Remove(t.Context(), home, "OPENAI_API_KEY"); err != nil || got != want {
			t.Errorf("removed %v, %v, want %v", got, err, want)
		}
	}
	if saved, err := secrets.Saved(home); err != nil || len(saved) != 0 {
		t.Errorf("after the removal: %+v, %v", saved, err)
	}
}

// TestConcurrentChangesKeepEachOther: the command line changes keys beside a running host.
func TestConcurrentChangesKeepEachOther(t *testing.T) {
	home := t.TempDir()
	const changes = 8
	for i := range changes {
		save(t, home, fmt.Sprintf("OLD_%d", i), "old")
	}
	var running sync.WaitGroup
	var want []secrets.Info
	for i := range changes {
		name := fmt.Sprintf("NEW_%d", i)
		want = append(want, secrets.Info{Name: name, Store: state.InFile})
		running.Go(func() {
			if _, err := secrets.Save(t.Context(), home, name, "new", state.InFile); err != nil {
				t.Error(err)
			}
		})
		running.Go(func() {
			if known, err := secrets.Remove(t.Context(), home, fmt.Sprintf("OLD_%d", i)); !known || err != nil {
				t.Errorf("removed %v, %v", known, err)
			}
		})
	}
	running.Wait()
	if got, err := secrets.Saved(home); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("saved %+v, %v", got, err)
	}
}

// TestAChangeWaitsForOthersWithALimit, and says what to do.
func TestAChangeWaitsForOthersWithALimit(t *testing.T) {
	home := t.TempDir()
	lock, err := state.Acquire(state.Paths{Home: home}.Secrets() + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := secrets.Save(ended, home, "OPENAI_API_KEY", "value", state.InFile); !errors.Is(err, state.ErrLocked) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("saved beside another change: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	save(t, home, "OPENAI_API_KEY", "value")
}

// TestMoveToFilesKeepsWhatIsThere: a home without secrets, and one whose secrets are in files
// already, are left as they are.
func TestMoveToFilesKeepsWhatIsThere(t *testing.T) {
	home := t.TempDir()
	if err := secrets.Move(t.Context(), home, state.InFile); err != nil {
		t.Errorf("an empty home: %v", err)
	}
	keys, err := keyfile.LoadOrCreate(state.Paths{Home: home}.Identity(), ident.KindDevice)
	if err != nil {
		t.Fatal(err)
	}
	save(t, home, "OPENAI_API_KEY", "value")
	if err := secrets.Move(t.Context(), home, state.InFile); err != nil {
		t.Fatal(err)
	}
	again, err := keyfile.Load(state.Paths{Home: home}.Identity(), ident.KindDevice)
	if err != nil || again.ID() != keys.ID() {
		t.Errorf("the identity is %v, %v", again, err)
	}
	getenv, err := secrets.Environment(home, noEnv, slog.New(slog.DiscardHandler))
	if err != nil || getenv("OPENAI_API_KEY") != "value" {
		t.Errorf("the key is gone: %v", err)
	}
}
