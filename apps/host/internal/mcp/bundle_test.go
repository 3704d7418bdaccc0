package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// bundle is an extension with servers that run as child processes, by their modes.
func bundle(t *testing.T, extension string, modes ...string) mcp.Bundle {
	t.Helper()
	servers := map[string]any{}
	for _, mode := range modes {
		s := child(t, mode)
		servers[mode] = map[string]any{"command": s.Command, "args": []string{"${CLAUDE_PLUGIN_ROOT}/x"}, "env": s.Env}
	}
	data, err := json.Marshal(servers)
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Bundle{Extension: extension, Root: t.TempDir(), Files: []mcp.BundleFile{{Name: ".mcp.json", Data: data}}}
}

// withBundles is a world in which extensions are used.
func withBundles(t *testing.T, servers map[string]state.MCPServer, bundles ...mcp.Bundle) *world {
	t.Helper()
	return newWorld(t, func(o *mcp.Options) {
		o.Servers, o.Bundles = servers, func(string) []mcp.Bundle { return bundles }
		o.Patience = patience
	})
}

// TestAnExtensionHarmsOnlyItself: one server of an extension exits, one floods its output
// without end, and one cannot be read. The others answer, before and after another one crashes.
func TestAnExtensionHarmsOnlyItself(t *testing.T) {
	bad := bundle(t, "bad", "exit", "flood", "crashing")
	bad.Files = append(bad.Files, mcp.BundleFile{Name: "more.json", Data: []byte("{")})
	w := withBundles(t, map[string]state.MCPServer{"own": child(t, "good")}, bad, bundle(t, "good", "fine"))
	echo := func(name string) {
		t.Helper()
		if r := w.call(t, t.Context(), name, `{"text":"hi"}`); r.IsError || r.Content.Plain() != "echo: hi" {
			t.Errorf("%s said %q", name, r.Content.Plain())
		}
	}
	echo("mcp__own__echo")
	echo("mcp__good_fine__echo")
	if r := w.call(t, t.Context(), "mcp__bad_crashing__crash", `{}`); !r.IsError {
		t.Error("a crash is a success")
	}
	for _, name := range []string{"bad:exit", "bad:flood", "bad:crashing"} {
		w.await(t, name, func(s api.MCPServer) bool { return s.State == api.MCPFailed && s.Reason != "" })
	}
	echo("mcp__own__echo")
	echo("mcp__good_fine__echo")
	if _, problems := w.List(w.folder); len(problems) != 1 || !strings.Contains(problems[0], "the extension bad: more.json") {
		t.Errorf("the problems are %q", problems)
	}
}

// TestAHangingExtensionHoldsUpNoTurn: the turn waits as long as for any server.
func TestAHangingExtensionHoldsUpNoTurn(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) {
		deaf := bundle(t, "bad", "deaf")
		o.Bundles = func(string) []mcp.Bundle { return []mcp.Bundle{deaf} }
		o.Patience = 1
	})
	if tools := w.Tools(t.Context(), w.folder); len(tools) != 0 || w.status(t, "bad:deaf").State != api.MCPStarting {
		t.Errorf("the tools are %v", names(tools))
	}
}

// TestAnExtensionTakesNoNames: neither a server nor tools of an extension can be taken for those
// of another one.
func TestAnExtensionTakesNoNames(t *testing.T) {
	own := map[string]state.MCPServer{"a_good": child(t, "good"), "a": child(t, "good")}
	doubled := bundle(t, "b", "good")
	doubled.Files = append(doubled.Files, doubled.Files[0], mcp.BundleFile{Name: "x.json", Data: []byte(`{"x__y":{"command":"x"},"x..y":{"command":"x"},"x.":{"command":"x"}}`)})
	w := withBundles(t, own, bundle(t, "a", "good"), doubled)
	var found []string
	list, problems := w.List(w.folder)
	for _, s := range list {
		found = append(found, s.Name+" "+s.Source)
	}
	if got, want := strings.Join(found, ", "), "a config.toml, a_good config.toml, b:good extension b"; got != want {
		t.Errorf("the servers are %s, want %s", got, want)
	}
	if got := strings.Join(problems, "\n"); !strings.Contains(got, "a:good is left out") || !strings.Contains(got, "another one of that name") || strings.Count(got, "rules could take") != 3 {
		t.Errorf("the problems are\n%s", got)
	}
	for _, tool := range names(w.Tools(t.Context(), w.folder)) {
		if !strings.HasPrefix(tool, "mcp__a__") && !strings.HasPrefix(tool, "mcp__a_good__") && !strings.HasPrefix(tool, "mcp__b_good__") {
			t.Errorf("there is a tool %s", tool)
		}
	}
}

// TestAServerOfAnExtensionKnowsItsFolder also checks that it stops with its extension.
func TestAServerOfAnExtensionKnowsItsFolder(t *testing.T) {
	used := []mcp.Bundle{bundle(t, "a", "good")}
	w := newWorld(t, func(o *mcp.Options) { o.Bundles = func(string) []mcp.Bundle { return used } })
	for _, name := range []string{"CLAUDE_PLUGIN_ROOT", "SCOREL_EXTENSION_ROOT"} {
		if got := w.call(t, t.Context(), "mcp__a_good__env", `{"text":"`+name+`"}`).Content.Plain(); got != name+"="+used[0].Root {
			t.Errorf("it said %s", got)
		}
	}
	if s := w.status(t, "a:good"); s.Hash != "" || s.Version != "" || s.Args[0] != filepath.Join(used[0].Root, "x") {
		t.Errorf("it is %+v", s)
	}
	if _, err := w.Decide(w.folder, "a:good", "x", true, "host"); err == nil {
		t.Error("a server of an extension was allowed alone")
	}
	if _, err := w.Save(w.folder, "a:good", "", api.MCPDraft{Command: "x"}, "host"); err == nil {
		t.Error("a server of an extension was changed")
	}
	used = nil
	w.Prune()
	if tools := w.Tools(t.Context(), w.folder); len(tools) != 0 {
		t.Errorf("after its extension was disabled: %v", names(tools))
	}
}

// flood writes to the standard output until it cannot.
func flood() {
	block := []byte(strings.Repeat("x", 1<<16))
	for {
		if _, err := os.Stdout.Write(block); err != nil {
			return
		}
	}
}
