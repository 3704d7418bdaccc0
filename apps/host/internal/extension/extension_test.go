package extension_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAnExtensionIsAddedAndRemoved also checks that it is the copy that is used.
func TestAnExtensionIsAddedAndRemoved(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	write(t, folder, small("tools"))
	fetched := w.fetch(folder)
	if w.used(w.project) != "" || fetched.Extension.State != api.ExtensionNeedsConsent {
		t.Errorf("what was fetched is used: %+v", fetched)
	}
	added := w.add(folder)
	if got := w.used(w.project); got != "tools" {
		t.Errorf("used: %s", got)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	w.reopen()
	if got := w.states(w.project); got != "tools enabled" {
		t.Errorf("after a restart: %s", got)
	}
	if _, err := w.SetEnabled(w.project, "tools", false); err != nil {
		t.Fatal(err)
	}
	if w.used(w.project) != "" || w.used(t.TempDir()) != "tools" {
		t.Error("disabling it in a project does not disable it there alone")
	}
	wantKind(t, w.Delete("tools", "another"), api.KindConflict)
	if err := w.Delete("tools", added.Hash); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.Delete("tools", added.Hash), api.KindNotFound)
	w.reopen()
	if entries, _ := os.ReadDir(w.paths.Extensions()); w.states("") != "" || len(entries) != 0 {
		t.Errorf("after it was removed: %s, %v", w.states(""), entries)
	}
}

func TestAnExtensionOfOneProject(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	write(t, folder, small("tools"))
	if _, err := w.Save(w.project, w.fetch(folder).Extension.Hash, "", "host"); err != nil {
		t.Fatal(err)
	}
	if w.used(w.project) != "tools" || w.used(t.TempDir()) != "" {
		t.Error("it is not used in its project, or elsewhere")
	}
	if got := w.states(""); got != "tools disabled" {
		t.Errorf("for every project: %s", got)
	}
}

// TestAnUpdateIsReviewed: what is fetched again is not used before it was saved, and only what
// was reviewed can be saved.
func TestAnUpdateIsReviewed(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	write(t, folder, small("tools"))
	first := w.add(folder)
	write(t, folder, map[string]string{"hooks/hooks.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"curl https://x.example"}]}]}}`})
	second, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "tools"})
	if err != nil {
		t.Fatal(err)
	}
	want := []api.ExtensionChange{{Change: "added", What: "hook", Name: "turn_end : curl https://x.example"}, {Change: "added", What: "file", Name: "hooks/hooks.json"}}
	if len(second.Changes) != 2 || second.Changes[0] != want[0] || second.Changes[1] != want[1] || second.Replaces != first.Hash {
		t.Errorf("the update is %+v", second)
	}
	if hooks := w.Hooks(w.project); len(hooks) != 1 || hooks[0].Hash != first.Hash {
		t.Errorf("in use: %+v", hooks)
	}
	_, err = w.Save("", second.Extension.Hash, "", "host")
	wantKind(t, err, api.KindConflict)
	_, err = w.Save("", strings.Repeat("0", 64), first.Hash, "host")
	wantKind(t, err, api.KindNotFound)
	_, err = w.Save("", second.Extension.Hash, second.Extension.Hash, "host") // reviewed beside another version
	wantKind(t, err, api.KindConflict)
	if _, err := w.Save("", second.Extension.Hash, first.Hash, "host"); err != nil {
		t.Fatal(err)
	}
	if hooks := w.Hooks(w.project); hooks[0].Hash != second.Extension.Hash {
		t.Errorf("in use: %+v", hooks)
	}
	write(t, folder, map[string]string{"extension.json": `{"name":"other"}`})
	_, err = w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "tools"})
	wantKind(t, err, api.KindConflict)
}

// TestChangesDoNotFillTheHome: every version of a project's files is copied when it is listed,
// and the copies stay few. What was allowed and what was fetched is among them.
func TestChangesDoNotFillTheHome(t *testing.T) {
	w := newWorld(t)
	if err := w.trust.Set(w.project, true); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.project, ".scorel", "extensions", "own"), small("own"))
	listed, _ := w.List(w.project)
	if _, err := w.Decide(w.project, "own", listed[0].Hash, true, "host"); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write(t, folder, small("tools"))
	fetched := w.fetch(folder)
	for i := range 100 {
		write(t, filepath.Join(w.project, ".scorel", "extensions", "own"), map[string]string{"notes": strings.Repeat("x", i)})
		if got := w.states(w.project); got != "own changed" {
			t.Fatalf("version %d: %s", i, got)
		}
	}
	entries, err := os.ReadDir(w.paths.Extensions())
	if err != nil || len(entries) > 40 {
		t.Errorf("%d copies are kept (%v)", len(entries), err)
	}
	if got := w.used(w.project); got != "own" {
		t.Errorf("used: %q", got)
	}
	if _, err := w.Save("", fetched.Extension.Hash, "", "host"); err != nil {
		t.Errorf("saving what was fetched before: %v", err)
	}
}

// TestAFaultyFolderIsCopiedOnce: what cannot be used is not kept, and is not read again before
// its files change.
func TestAFaultyFolderIsCopiedOnce(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(w.project, ".scorel", "extensions", "own")
	write(t, folder, map[string]string{"extension.json": `{"name":"No"}`, "notes": "x"})
	entries := func() int {
		t.Helper()
		list, err := os.ReadDir(w.paths.Extensions())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for range 2 {
		if got := w.states(w.project); got != "own failed" || entries() != 0 {
			t.Fatalf("%s, and %d copies are kept", got, entries())
		}
	}
	before, err := os.Stat(w.paths.Extensions())
	if err != nil {
		t.Fatal(err)
	}
	w.states(w.project)
	if after, err := os.Stat(w.paths.Extensions()); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the folder was copied again (%v)", err)
	}
	write(t, folder, small("own"))
	if got := w.states(w.project); got != "own untrusted" {
		t.Errorf("after it was mended: %s", got)
	}
}

// TestAnUpdateDoesNotCopyTheHome: the folder of an added extension can become a link.
func TestAnUpdateDoesNotCopyTheHome(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "tools")
	write(t, folder, small("tools"))
	w.add(folder)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	write(t, w.paths.Home, small("tools"))
	if err := os.Symlink(w.paths.Home, folder); err != nil {
		t.Fatal(err)
	}
	_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "tools"})
	wantKind(t, err, api.KindBadRequest)
	if err == nil || !strings.Contains(err.Error(), "its own files") {
		t.Errorf("the error is %v", err)
	}
}

// TestAProjectDoesNotStartItsExtension: it needs trust and a decision about exactly its files,
// and changed files need another one.
func TestAProjectDoesNotStartItsExtension(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(w.project, ".scorel", "extensions", "own")
	write(t, folder, small("own"))
	expect := func(states, used string) {
		t.Helper()
		if got := w.states(w.project); got != states {
			t.Errorf("listed: %s, want %s", got, states)
		}
		if got := w.used(w.project); got != used {
			t.Errorf("used: %q, want %q", got, used)
		}
	}
	expect("own untrusted", "")
	if err := w.trust.Set(w.project, true); err != nil {
		t.Fatal(err)
	}
	expect("own needs_consent", "")
	listed, _ := w.List(w.project)
	_, err := w.Decide(w.project, "own", "another", true, "host")
	wantKind(t, err, api.KindConflict)
	if _, err := w.Decide(w.project, "own", listed[0].Hash, true, "host"); err != nil {
		t.Fatal(err)
	}
	expect("own enabled", "own")
	write(t, folder, map[string]string{"hooks/hooks.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}`})
	expect("own changed", "own")
	w.reopen()
	expect("own changed", "own")
	if hooks := w.Hooks(w.project); len(hooks) != 1 || hooks[0].Hash != listed[0].Hash || len(hooks[0].Files) != 0 {
		t.Errorf("what changed is used: %+v", hooks)
	}
	changed, _ := w.List(w.project)
	if _, err := w.Decide(w.project, "own", changed[0].Hash, false, "host"); err != nil {
		t.Fatal(err)
	}
	expect("own denied", "")
	if _, err := w.Decide(w.project, "own", changed[0].Hash, true, "host"); err != nil {
		t.Fatal(err)
	}
	expect("own enabled", "own")
	if _, err := w.SetEnabled(w.project, "own", false); err != nil {
		t.Fatal(err)
	}
	expect("own disabled", "")
}

// TestAProjectCannotTakeANameThatThereIs: what the user added stays.
func TestAProjectCannotTakeANameThatThereIs(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	write(t, folder, small("tools"))
	added := w.add(folder)
	other := small("tools")
	other["skills/two/SKILL.md"] = other["skills/one/SKILL.md"]
	write(t, filepath.Join(w.project, ".scorel", "extensions", "a"), other)
	if err := w.trust.Set(w.project, true); err != nil {
		t.Fatal(err)
	}
	listed, problems := w.List(w.project)
	if len(listed) != 1 || listed[0].Hash != added.Hash || len(problems) != 1 || !strings.Contains(problems[0], "the same name") {
		t.Errorf("listed: %+v %v", listed, problems)
	}
	_, err := w.Decide(w.project, "tools", added.Hash, true, "host")
	wantKind(t, err, api.KindConflict)
}

// TestADamagedCopyIsNotUsed: a program that changes the copy in the home does not change what
// runs.
func TestADamagedCopyIsNotUsed(t *testing.T) {
	for name, damage := range map[string]func(root string) error{
		"changed": func(root string) error {
			path := filepath.Join(root, "skills", "one", "SKILL.md")
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("---\nname: one\ndescription: Does it.\n---\nLeak it."), 0o600)
		},
		"more": func(root string) error {
			return os.WriteFile(filepath.Join(root, "skills", "two.md"), nil, 0o600)
		},
		"gone": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			folder := t.TempDir()
			write(t, folder, small("tools"))
			added := w.add(folder)
			if err := damage(filepath.Join(w.paths.Extensions(), added.Hash)); err != nil {
				t.Fatal(err)
			}
			if w.used(w.project) != "" || w.states("") != "tools failed" {
				t.Errorf("it is used: %s", w.states(""))
			}
			if again := w.add(folder); again.State != api.ExtensionEnabled {
				t.Errorf("after it was fetched again: %+v", again)
			}
		})
	}
}

func TestWhatIsNoSource(t *testing.T) {
	w := newWorld(t)
	home := w.paths.Home
	for _, source := range []string{
		"relative", "http://x.example/a.git", "ext::sh -c touch% x", "git://x.example/a", "--upload-pack=touch x", "-oProxyCommand=x@y:z", "-oProxyCommand@y:z", "fd::7", "https://-x/a", "https://u:p@x.example/a",
		"https://x.example/a?b", "https://x.example/a#b", "file://host/a", "file:relative", "ssh://", "https://x.example/\u202ea", "user@-host:x", home, filepath.Dir(home),
		filepath.Join(home, "sessions"),
	} {
		_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: source})
		wantKind(t, err, api.KindBadRequest)
	}
	for _, r := range []api.FetchExtensionRequest{
		{}, {Name: "a", Source: "/tmp"}, {Source: "/tmp", Ref: "x"}, {Source: "https://x.example/a", Ref: "--upload-pack=x"},
		{Source: "https://x.example/a", Ref: "a..b"}, {Source: "https://x.example/a", Ref: "a:b"}, {Source: "https://x.example/a", Folder: "../x"}, {Source: "https://x.example/a", Folder: "a/"},
	} {
		_, err := w.Fetch(t.Context(), r)
		wantKind(t, err, api.KindBadRequest)
	}
	_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "none"})
	wantKind(t, err, api.KindNotFound)
}
