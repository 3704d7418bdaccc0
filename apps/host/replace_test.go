package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
)

// What cannot take the place of a live host leaves it running.
func TestAFailedReplacementLeavesTheLiveHost(t *testing.T) {
	home := t.TempDir()
	live := start(t, host.Config{Home: home})
	replace := host.Config{Home: home, Getenv: noEnv, NoRelay: true, Replace: true}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := host.New(given, replace); !errors.Is(err, context.Canceled) {
		t.Errorf("given up before: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("lable = \"x\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.New(t.Context(), replace); err == nil || !strings.Contains(err.Error(), `unknown key "lable"`) {
		t.Errorf("with a wrong config.toml: %v", err)
	}
	ask[api.GetHostResponse](newHTTPEntry(t, live, live.State().Token), "/v1/get_host", api.Empty{})
}

// Folders that commands may write to must be folders beside the host's own.
func TestBadWritableFolders(t *testing.T) {
	for name, want := range map[string]string{
		"HOME":           "is in scorel's own folder",
		"HOME/sessions":  "is in scorel's own folder",
		"HOME/../config": "is a file: use its folder",
		"cache":          "is not an absolute path",
		"/":              "/ would make everything writable",
	} {
		top := t.TempDir()
		home := filepath.Join(top, "home")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, "config"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		path := strings.Replace(name, "HOME", home, 1)
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("[sandbox]\nwritable = [\""+path+"\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := host.New(t.Context(), host.Config{Home: home, Getenv: noEnv, NoRelay: true})
		if err == nil || !strings.Contains(err.Error(), "config.toml: sandbox.writable: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
