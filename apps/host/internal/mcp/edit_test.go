package mcp_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// editable returns a world whose servers can be changed, and loads what it stores again.
func editable(t *testing.T) (w *world, again func() *world) {
	t.Helper()
	home, folder := state.Paths{Home: t.TempDir()}, t.TempDir()
	load := func() *world {
		t.Helper()
		w := newWorld(t, func(o *mcp.Options) {
			var errs [3]error
			o.Saved, errs[0] = state.LoadSavedServers(home.Servers())
			o.Switches, errs[1] = state.LoadSwitches(home.Switches())
			o.Consents, errs[2] = state.LoadConsents(home.MCP())
			if err := errors.Join(errs[:]...); err != nil {
				t.Fatal(err)
			}
		})
		w.folder = folder
		return w
	}
	return load(), load
}

func draftOf(s state.MCPServer) api.MCPDraft {
	draft := api.MCPDraft{Command: s.Command, Args: s.Args}
	for name, value := range s.Env {
		draft.Env = append(draft.Env, api.MCPValue{Name: name, Value: value})
	}
	return draft
}

func kindOf(err error) api.Kind {
	var refused *api.Error
	if !errors.As(err, &refused) {
		return api.KindUnknown
	}
	return refused.Kind
}

// TestServersAreChangedWithoutARestart: added, changed, disabled and deleted, for every project
// and for one; what runs follows, and all of it survives.
func TestServersAreChangedWithoutARestart(t *testing.T) {
	for _, forAll := range []bool{true, false} {
		w, again := editable(t)
		where := w.folder
		if forAll {
			where = ""
		}
		draft := draftOf(child(t, "plain"))
		saved, err := w.Save(where, "one", "", draft, "host")
		if err != nil {
			t.Fatal(err)
		}
		if saved.State != api.MCPIdle || saved.Version == "" || again().status(t, "one").State != api.MCPIdle {
			t.Errorf("for all %t: added %+v", forAll, saved)
		}
		if got := names(w.Tools(t.Context(), w.folder)); !slices.Contains(got, "mcp__one__echo") {
			t.Fatalf("for all %t: the tools are %q", forAll, got)
		}
		for _, enabled := range []bool{false, true} {
			set, err := w.SetEnabled(where, "one", enabled)
			if err != nil || set.Disabled == enabled {
				t.Errorf("for all %t: enabled %t: %+v, %v", forAll, enabled, set, err)
			}
			if got := len(w.Tools(t.Context(), w.folder)) > 0; got != enabled || again().status(t, "one").Disabled == enabled {
				t.Errorf("for all %t: enabled %t, and there are tools: %t", forAll, enabled, got)
			}
		}
		if _, err := w.Save(where, "one", "", draft, "host"); kindOf(err) != api.KindConflict {
			t.Errorf("for all %t: added twice: %v", forAll, err)
		}
		draft.Env = append(draft.Env, api.MCPValue{Name: "GREETING", Value: "hello"})
		changed, err := w.Save(where, "one", saved.Version, draft, "host")
		if err != nil || changed.State != api.MCPIdle || changed.Version == saved.Version {
			t.Fatalf("for all %t: changed %+v, %v", forAll, changed, err)
		}
		if got := w.call(t, t.Context(), "mcp__one__env", `{"text":"GREETING"}`).Content.Plain(); got != "GREETING=hello" {
			t.Errorf("for all %t: the changed server says %q", forAll, got)
		}
		if err := w.Delete(where, "one", saved.Version); kindOf(err) != api.KindConflict {
			t.Errorf("for all %t: deleted as it was before: %v", forAll, err)
		}
		if err := w.Delete(where, "one", changed.Version); err != nil {
			t.Fatal(err)
		}
		if list, _ := again().List(w.folder); len(list) != 0 || len(w.Tools(t.Context(), w.folder)) != 0 {
			t.Errorf("for all %t: the deleted server is there: %+v", forAll, list)
		}
	}
}

// TestValuesOfServersAreNotShownAgain: those for every project never, and a change keeps them.
func TestValuesOfServersAreNotShownAgain(t *testing.T) {
	w, again := editable(t)
	draft := draftOf(child(t, "plain"))
	draft.Env = append(draft.Env, api.MCPValue{Name: "PLAIN", Value: "pw-1234"}, api.MCPValue{Name: "FROM_ENV", Value: "${HOME}"})
	saved, err := w.Save("", "one", "", draft, "host")
	if err != nil {
		t.Fatal(err)
	}
	hidden := func(server api.MCPServer) {
		t.Helper()
		text := server.Shown
		for _, v := range server.Env {
			text += v.Name + "=" + v.Value + "\n"
		}
		if strings.Contains(text, "pw-1234") || !strings.Contains(text, "FROM_ENV=${HOME}") {
			t.Errorf("people are shown %s", text)
		}
	}
	hidden(saved)
	for i := range draft.Env {
		draft.Env[i] = api.MCPValue{Name: draft.Env[i].Name, Keep: true}
	}
	draft.Args = []string{"-v"}
	changed, err := w.Save("", "one", saved.Version, draft, "host")
	if err != nil {
		t.Fatal(err)
	}
	hidden(changed)
	w = again()
	hidden(w.status(t, "one"))
	if got := w.call(t, t.Context(), "mcp__one__env", `{"text":"PLAIN"}`).Content.Plain(); got != "PLAIN=pw-1234" {
		t.Errorf("the kept value is %q", got)
	}
	draft.Env = append(draft.Env, api.MCPValue{Name: "NEW", Keep: true})
	if _, err := w.Save("", "one", changed.Version, draft, "host"); kindOf(err) != api.KindConflict {
		t.Errorf("a value that is not there was kept: %v", err)
	}
}

// TestOtherProgramsKeepTheirSettings: a change of .mcp.json leaves everything else as it is,
// follows no link, and is not made to a file with a fault.
func TestOtherProgramsKeepTheirSettings(t *testing.T) {
	w, _ := editable(t)
	path := filepath.Join(w.folder, mcp.FileName)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	save := func(name, version string) error {
		_, err := w.Save(w.folder, name, version, api.MCPDraft{URL: "https://mcp.example/?a<b", Headers: []api.MCPValue{{Name: "X-A", Value: "1"}}}, "host")
		return err
	}
	write(`{"$schema": "x", "mcpServers": {"old": {"command": "old", "timeout": 5, "args": ["-v"]}, "z": {"command": "z"}}, "inputs": [1]}`)
	if err := save("new", ""); err != nil {
		t.Fatal(err)
	}
	if err := save("old", w.status(t, "old").Version); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(w.folder, "z", w.status(t, "z").Version); err != nil {
		t.Fatal(err)
	}
	const server = `"url": "https://mcp.example/?a<b",
      "headers": {
        "X-A": "1"
      }
    }`
	want := `{
  "$schema": "x",
  "mcpServers": {
    "old": {
      "timeout": 5,
      "type": "http",
      ` + server + `,
    "new": {
      "type": "http",
      ` + server + `
  },
  "inputs": [
    1
  ]
}
`
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("the file is %v\n%s\nwant\n%s", err, got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	write(`{"mcpServers": [`)
	if err := save("more", ""); kindOf(err) != api.KindConflict {
		t.Errorf("a file with a fault was changed: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "elsewhere.json")
	if err := errors.Join(os.Rename(path, outside), os.WriteFile(outside, []byte("{}"), 0o600), os.Symlink(outside, path)); err != nil {
		t.Fatal(err)
	}
	if err := save("more", ""); kindOf(err) != api.KindConflict {
		t.Errorf("a link was followed: %v", err)
	}
	if got, _ := os.ReadFile(outside); string(got) != "{}" {
		t.Errorf("what the link leads to is %s", got)
	}
}

// TestServersThatAreNotSaved: the error names what is wrong, and nothing is stored.
func TestServersThatAreNotSaved(t *testing.T) {
	w, _ := editable(t)
	w.options.Servers["mine"] = state.MCPServer{Command: "x"}
	w.inFile(t, "theirs", "plain")
	for name, tc := range map[string]struct {
		draft api.MCPDraft
		kind  api.Kind
	}{
		"none":     {api.MCPDraft{}, api.KindBadRequest},
		"both":     {api.MCPDraft{Command: "x", URL: "https://mcp.example"}, api.KindBadRequest},
		"scheme":   {api.MCPDraft{URL: "ftp://mcp.example"}, api.KindBadRequest},
		"a b":      {api.MCPDraft{Command: "x"}, api.KindBadRequest},
		"../evil":  {api.MCPDraft{Command: "x"}, api.KindBadRequest},
		"variable": {api.MCPDraft{Command: "x", Env: []api.MCPValue{{Name: "A=B", Value: "1"}}}, api.KindBadRequest},
		"twice":    {api.MCPDraft{Command: "x", Env: []api.MCPValue{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}}, api.KindBadRequest},
		"header":   {api.MCPDraft{URL: "https://mcp.example", Headers: []api.MCPValue{{Name: "A", Value: "1\r\nB: 2"}}}, api.KindBadRequest},
		"nul":      {api.MCPDraft{Command: "x", Args: []string{"a\x00b"}}, api.KindBadRequest},
		"mine":     {api.MCPDraft{Command: "x"}, api.KindConflict},
	} {
		for _, folder := range []string{"", w.folder} {
			if _, err := w.Save(folder, name, "", tc.draft, "host"); kindOf(err) != tc.kind {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := w.Delete("", "mine", "1"); kindOf(err) != api.KindConflict {
		t.Errorf("a server of config.toml was deleted: %v", err)
	}
	if err := w.Delete("", "theirs", "1"); kindOf(err) != api.KindNotFound {
		t.Errorf("a server of a project was deleted for every project: %v", err)
	}
	if list, _ := w.List(w.folder); len(list) != 2 {
		t.Errorf("the servers are %+v", list)
	}
}

// TestAServerIsTested: its tools are listed, a fault is said, nothing stays, and nothing starts
// that people did not allow.
func TestAServerIsTested(t *testing.T) {
	w, _ := editable(t)
	for name, mode := range map[string]string{"good": "plain", "bad": "exit"} {
		if _, err := w.Save("", name, "", draftOf(child(t, mode)), "host"); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"", w.folder} {
		tested, err := w.Test(t.Context(), folder, "good")
		if err != nil || tested.Problem != "" || len(tested.Tools) == 0 || tested.Tools[0].Name != "crash" || tested.Tools[0].Description != "Ends the server." {
			t.Errorf("a good server in %q: %+v, %v", folder, tested, err)
		}
		tested, err = w.Test(t.Context(), folder, "bad")
		if err != nil || len(tested.Tools) != 0 || !strings.Contains(tested.Problem, "the license has run out") {
			t.Errorf("a bad server in %q: %+v, %v", folder, tested, err)
		}
	}
	if got := w.status(t, "good").State; got != api.MCPIdle {
		t.Errorf("after a test the server is %s", got)
	}
	w.inFile(t, "theirs", "plain")
	if _, err := w.Test(t.Context(), w.folder, "theirs"); kindOf(err) != api.KindConflict {
		t.Errorf("a server without consent was started: %v", err)
	}
	if _, err := w.Test(t.Context(), w.folder, "none"); kindOf(err) != api.KindNotFound {
		t.Errorf("a server that is not there: %v", err)
	}
	if _, err := w.SetEnabled("", "good", false); err != nil {
		t.Fatal(err)
	}
	if tested, err := w.Test(t.Context(), "", "good"); err != nil || tested.Problem != "" {
		t.Errorf("a disabled server: %+v, %v", tested, err)
	}
}

// TestOneServerTooMany is refused with what to do, and those that are there stay.
func TestOneServerTooMany(t *testing.T) {
	w, _ := editable(t)
	draft := draftOf(child(t, "plain"))
	for _, where := range []string{"", w.folder} {
		most := 0
		for ; most < 1000; most++ {
			_, err := w.Save(where, fmt.Sprintf("s%d", most), "", draft, "host")
			if err == nil {
				continue
			}
			if kindOf(err) != api.KindConflict || !strings.Contains(err.Error(), "which is the limit: delete one first") {
				t.Errorf("in %q: the server after %d: %v", where, most, err)
			}
			break
		}
		list, problems := w.List(where)
		if len(list) != most || where == "" && len(problems) != 0 {
			t.Errorf("in %q: %d of %d servers are there: %q", where, len(list), most, problems)
		}
		for _, s := range list {
			if err := w.Delete(where, s.Name, s.Version); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOnlyWhatWasSavedIsAllowed: a name that the file of a project has twice does not get
// another server allowed.
func TestOnlyWhatWasSavedIsAllowed(t *testing.T) {
	w, _ := editable(t)
	file := `{"mcpServers":{"one":{"command":"a"},"one":{"command":"b"}}}`
	if err := os.WriteFile(filepath.Join(w.folder, mcp.FileName), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	before := w.status(t, "one")
	if before.Command != "b" || before.State != api.MCPNeedsConsent {
		t.Fatalf("before: %+v", before)
	}
	_, err := w.Save(w.folder, "one", before.Version, draftOf(child(t, "plain")), "host")
	if kindOf(err) != api.KindConflict {
		t.Errorf("saved: %v", err)
	}
	if got := w.status(t, "one"); got.State != api.MCPNeedsConsent {
		t.Errorf("after: %+v", got)
	}
}

// TestAChangedFileAsksAgain: what a request allowed is allowed as it was written.
func TestAChangedFileAsksAgain(t *testing.T) {
	w, _ := editable(t)
	if _, err := w.Save(w.folder, "one", "", draftOf(child(t, "plain")), "host"); err != nil {
		t.Fatal(err)
	}
	w.inFile(t, "one", "exit")
	if got := w.status(t, "one").State; got != api.MCPNeedsConsent {
		t.Errorf("after the file was changed the server is %s", got)
	}
}
