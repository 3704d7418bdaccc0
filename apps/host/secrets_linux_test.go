package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/keyfile/keystore"
	"github.com/scorel/scorel/packages/keyfile/keystore/keystoretest"
)

const savedKey = "sk-a-key-that-is-saved"

// TestSecretsMoveToTheKeyStore moves all secrets of a home, over a real bus, and starts hosts
// with what was moved.
func TestSecretsMoveToTheKeyStore(t *testing.T) {
	service := keystoretest.Serve(t)
	home := t.TempDir()
	id := deviceOf(t, home)
	store, err := host.SaveKey(t.Context(), home, "ANTHROPIC_API_KEY", savedKey, "")
	if err != nil || store != "system" {
		t.Fatalf("saved in %q, %v", store, err)
	}
	if store, err = host.SaveKey(t.Context(), home, "OPENAI_API_KEY", savedKey, "file"); err != nil || store != "file" {
		t.Fatalf("saved in %q, %v", store, err)
	}
	for _, to := range []string{"system", "system", "file"} {
		if err := host.MoveSecrets(t.Context(), home, to); err != nil {
			t.Fatal(err)
		}
		list, err := host.Secrets(home)
		if err != nil || len(list) != 3 {
			t.Fatalf("%v, %v", list, err)
		}
		for _, s := range list {
			if s.Store != to {
				t.Errorf("%s is in %s, want %s", s.Name, s.Store, to)
			}
		}
		files := filesOf(t, home)
		if inFiles := strings.Contains(files, savedKey); inFiles != (to == "file") {
			t.Errorf("%s: the key is in a file: %v", to, inFiles)
		}
		if got := deviceOf(t, home); got != id {
			t.Errorf("%s: the host is %s, and was %s", to, got, id)
		}
		if models, err := host.Models(home, noEnv); err != nil || models[0].Provider != "anthropic" || !models[0].KeySet {
			t.Errorf("%s: %+v, %v", to, models, err)
		}
	}
	if n := len(service.Secrets()); n != 0 {
		t.Errorf("the key store has %d secrets that were moved back", n)
	}

	// A locked store keeps a host off that needs it, and says why; it does not hang.
	if err := host.MoveSecrets(t.Context(), home, "system"); err != nil {
		t.Fatal(err)
	}
	service.Lock()
	if h, err := host.New(t.Context(), host.Config{Home: home, Getenv: noEnv, NoRelay: true}); !errors.Is(err, keystore.ErrUnavailable) || !strings.Contains(err.Error(), "unlock it") {
		t.Errorf("%v %v", h, err)
	}
	service.Unlock()
	if got := deviceOf(t, home); got != id {
		t.Errorf("the host is %s, and was %s", got, id)
	}
	if known, err := host.RemoveKey(t.Context(), home, "ANTHROPIC_API_KEY"); err != nil || !known {
		t.Errorf("%v, %v", known, err)
	}
	if known, err := host.RemoveKey(t.Context(), home, "ANTHROPIC_API_KEY"); err != nil || known {
		t.Errorf("%v, %v", known, err)
	}
}

// deviceOf starts a host on a home and ends it.
func deviceOf(t *testing.T, home string) string {
	t.Helper()
	h, err := host.New(t.Context(), host.Config{Home: home, Getenv: noEnv, NoRelay: true})
	if err != nil {
		t.Fatal(err)
	}
	id := h.DeviceID().String()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return id
}

// filesOf is the text of the files right in a home.
func filesOf(t *testing.T, home string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
		text += string(data)
	}
	return text
}

// TestTheEnvironmentComesFirst: a saved key serves where the variable is not set.
func TestTheEnvironmentComesFirst(t *testing.T) {
	home := t.TempDir()
	if _, err := host.SaveKey(t.Context(), home, "GEMINI_API_KEY", savedKey, "file"); err != nil {
		t.Fatal(err)
	}
	models, err := host.Models(home, noEnv)
	if err != nil || models[0].Provider != "google" {
		t.Errorf("%+v, %v", models, err)
	}
	models, err = host.Models(home, func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk"}[name]
	})
	if err != nil || models[0].Provider != "openai" {
		t.Errorf("%+v, %v", models, err)
	}
}
