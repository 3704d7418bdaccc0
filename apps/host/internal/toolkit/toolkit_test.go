package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/toolkit"
)

func newHome(t *testing.T, config string) state.Paths {
	t.Helper()
	paths := state.Paths{Home: t.TempDir()}
	if err := os.WriteFile(paths.Config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestOptionsOfTheConfiguration(t *testing.T) {
	paths := state.Paths{Home: "/home/me/.scorel"}
	options, err := toolkit.Options(paths, state.Config{Permissions: state.Permissions{FetchPrivate: []string{"127.0.0.1:8080"}}})
	if err != nil || len(options.FetchPrivate) != 1 || !slices.Equal(options.Private, []string{paths.Home}) || options.Memory == nil || len(options.HideEnv) == 0 {
		t.Errorf("%+v, %v", options, err)
	}
	_, err = toolkit.Options(paths, state.Config{Permissions: state.Permissions{FetchPrivate: []string{"not an address"}}})
	if err == nil || !strings.Contains(err.Error(), "permissions.fetch_private") {
		t.Errorf("an invalid address: %v", err)
	}
}

// TestDescribe: each tool has a schema, a description, and the risk that decides whether it
// asks.
func TestDescribe(t *testing.T) {
	list, err := toolkit.Describe(newHome(t, "").Home)
	if err != nil {
		t.Fatal(err)
	}
	risks := map[string]string{}
	for _, tool := range list {
		risks[tool.Name] = tool.Risk
		if tool.Description == "" || !json.Valid(tool.Parameters) || tool.Toolset == "" {
			t.Errorf("%s is described as %+v", tool.Name, tool)
		}
	}
	for name, want := range map[string]string{"read_file": "read", "grep": "read", "write_file": "write", "bash": "write"} {
		if risks[name] != want {
			t.Errorf("%s has the risk %q, want %q", name, risks[name], want)
		}
	}
	if _, err := toolkit.Describe(newHome(t, "unknown = 1\n").Home); err == nil {
		t.Error("an invalid config.toml was read")
	}
}

func TestRunMakesOneCall(t *testing.T) {
	paths, folder := newHome(t, ""), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "note.txt"), []byte("remember this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tool, args string
		ok         bool
		text       string
	}{
		"a result":          {"read_file", `{"path":"note.txt"}`, true, "remember this"},
		"a failure":         {"read_file", `{"path":"none.txt"}`, false, "none.txt"},
		"invalid arguments": {"read_file", `{"path":7}`, false, "path"},
		"a private file":    {"read_file", `{"path":"` + filepath.ToSlash(paths.Config()) + `"}`, false, ""},
	} {
		object, ok, err := toolkit.Run(t.Context(), paths.Home, c.tool, json.RawMessage(c.args), folder, func(string) {})
		if err != nil || ok != c.ok || !json.Valid(object) || !strings.Contains(string(object), c.text) {
			t.Errorf("%s: %s, %v, %v", name, object, ok, err)
		}
	}
	if _, _, err := toolkit.Run(t.Context(), paths.Home, "fly", json.RawMessage(`{}`), folder, func(string) {}); !errors.Is(err, toolkit.ErrUnknown) {
		t.Errorf("an unknown tool: %v", err)
	}
}

// TestRunEndsWithItsContext: a command that is running is ended, and the call returns.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := func(output string) {
		if strings.Contains(output, "started") {
			cancel()
		}
	}
	_, ok, err := toolkit.Run(ctx, newHome(t, "").Home, "bash", json.RawMessage(`{"command":"echo started; sleep 3600"}`), t.TempDir(), started)
	if err != nil || ok {
		t.Errorf("ok %v, %v", ok, err)
	}
}
