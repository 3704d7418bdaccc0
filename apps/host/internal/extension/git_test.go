package extension_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// git runs git in a folder, apart from the settings of this machine.
func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@x.example", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, problems.String())
	}
	return strings.TrimSpace(string(out))
}

// commit commits everything in a folder and returns the id of the commit.
func commit(t *testing.T, folder string) string {
	t.Helper()
	git(t, folder, "add", "--all")
	git(t, folder, "commit", "--quiet", "--no-verify", "-m", "x")
	return git(t, folder, "rev-parse", "HEAD")
}

func TestFetchingFromGit(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	git(t, folder, "init", "--quiet")
	files := map[string]string{}
	for name, text := range small("tools") {
		files["plugins/tools/"+name] = text
	}
	write(t, folder, files)
	first := commit(t, folder)
	git(t, folder, "tag", "v1")
	fetched, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: "file://" + folder, Folder: "plugins/tools"})
	if err != nil {
		t.Fatal(err)
	}
	if e := fetched.Extension; e.Commit != first || e.Source != api.ExtensionGit || e.Folder != "plugins/tools" || len(e.Contents.Skills) != 1 {
		t.Errorf("fetched: %+v", e)
	}
	if _, err := w.Save("", fetched.Extension.Hash, "", "host"); err != nil {
		t.Fatal(err)
	}
	write(t, folder, map[string]string{"plugins/tools/commands/go.md": "Go."})
	second := commit(t, folder)
	updated, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "tools"})
	if err != nil {
		t.Fatal(err)
	}
	if updated.Extension.Commit != second || len(updated.Changes) != 2 || updated.Changes[0] != (api.ExtensionChange{Change: "added", What: "command", Name: "tools:go"}) {
		t.Errorf("the update is %+v", updated)
	}
	for _, ref := range []string{"v1", first} {
		old, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "tools", Ref: ref})
		if err != nil || old.Extension.Commit != first || old.Extension.Hash != fetched.Extension.Hash {
			t.Errorf("%s: %+v %v", ref, old, err)
		}
	}
	_, err = w.Fetch(t.Context(), api.FetchExtensionRequest{Name: "tools", Ref: "none"})
	wantKind(t, err, api.KindUnavailable)
	_, err = w.Fetch(t.Context(), api.FetchExtensionRequest{Source: "file://" + folder, Folder: "none"})
	wantKind(t, err, api.KindBadRequest)
}

// TestARepositoryRunsNothing: neither hooks nor filters nor submodules of a repository do
// anything, and its links do not lead out.
func TestARepositoryRunsNothing(t *testing.T) {
	w := newWorld(t)
	folder, proof := t.TempDir(), filepath.Join(t.TempDir(), "proof")
	other := t.TempDir()
	git(t, other, "init", "--quiet")
	write(t, other, map[string]string{"inside": "x"})
	commit(t, other)
	git(t, folder, "init", "--quiet")
	write(t, folder, small("tools"))
	write(t, folder, map[string]string{".gitattributes": "* filter=evil\n*.bin filter=lfs\n", "model.bin": "version https://git-lfs.github.com/spec/v1\n"})
	git(t, folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+other, "below")
	commit(t, folder)
	script := "#!/bin/sh\ntouch " + proof + "\n"
	settings := filepath.Join(t.TempDir(), "config")
	hooks := t.TempDir()
	for _, name := range []string{"post-checkout", "reference-transaction", "post-merge", "post-index-change"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := "[core]\n\thooksPath = " + hooks + "\n[filter \"evil\"]\n\tsmudge = touch " + proof + "\n\trequired = true\n[filter \"lfs\"]\n\tprocess = touch " + proof +
		"\n[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n[url \"ext::touch " + proof + " %S\"]\n\tinsteadOf = https://evil.example/\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", settings)
	fetched, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: "file://" + folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("a program ran")
	}
	if got := fetched.Extension.Contents.Files; got != 5 { // the submodule is not one of them
		t.Errorf("it has %d files", got)
	}
	_, err = w.Fetch(t.Context(), api.FetchExtensionRequest{Source: "https://evil.example/x"})
	wantKind(t, err, api.KindUnavailable)
	if _, err := os.Stat(proof); err == nil {
		t.Error("an address ran a program")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "skills", "one", "more")); err != nil {
		t.Fatal(err)
	}
	commit(t, folder)
	_, err = w.Fetch(t.Context(), api.FetchExtensionRequest{Source: "file://" + folder})
	wantKind(t, err, api.KindBadRequest)
}

// TestARepositoryThatUnpacksToMuch: a small pack can hold a huge file.
func TestARepositoryThatUnpacksToMuch(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	git(t, folder, "init", "--quiet")
	write(t, folder, small("tools"))
	sparse(t, filepath.Join(folder, "huge"), 40<<20)
	commit(t, folder)
	_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: "file://" + folder})
	wantKind(t, err, api.KindBadRequest)
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("the error is %v", err)
	}
}
