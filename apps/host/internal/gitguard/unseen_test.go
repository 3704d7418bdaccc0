//go:build unix

package gitguard

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/nobodytest"
)

func modes(t *testing.T, dir string, names ...string) (modes []fs.FileMode) {
	t.Helper()
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		modes = append(modes, info.Mode().Perm())
	}
	return modes
}

// TestPermissionsHideNothing: git needs no permission to list a folder, and the system none to
// read a program, so what cannot be listed or read is checked all the same.
func TestPermissionsHideNothing(t *testing.T) {
	if os.Getuid() == 0 {
		nobodytest.Rerun(t)
		return
	}
	const watcher = `git config core.fsmonitor 'touch "$MARK"; false'`
	for name, script := range map[string]string{
		"the folder of git":         watcher + `; chmod 311 .git`,
		"a closed folder of git":    watcher + `; chmod 0 .git`,
		"a folder of hooks":         `H=.git/hooks/post-commit; ` + evil + `; chmod 111 .git/hooks`,
		"a repository below":        `cd below; ` + watcher + `; cd ..; chmod 111 below`,
		"a folder that is named":    `mkdir -p a/h; H=a/h/post-commit; ` + evil + `; git config core.hooksPath a/h; chmod 111 a/h a`,
		"a program":                 `cp "$(command -v touch)" .git/hooks/pre-push; chmod 111 .git/hooks/pre-push`,
		"a program in such a place": `H=.git/hooks/post-commit; ` + evil + `; chmod 111 .git/hooks .git`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := newProject(t)
			mark := filepath.Join(filepath.Dir(dir), "mark")
			end, err := New(filepath.Join(t.TempDir(), "aside")).Begin(dir)
			if err != nil {
				t.Fatal(err)
			}
			bash(t, dir, script)
			before := modes(t, dir, ".", ".git", "below")
			notes := strings.Join(end(), "\n")
			if !strings.Contains(notes, "was moved to") || strings.Contains(notes, "could not") {
				t.Errorf("the notes are %q", notes)
			}
			if after := modes(t, dir, ".", ".git", "below"); !slices.Equal(after, before) {
				t.Errorf("the permissions were %o and are %o", before, after)
			}
			bash(t, dir, `export MARK=`+mark+`; for d in . below; do (cd $d; echo y > f; git add f; git commit -qm two; git status) > /dev/null 2>&1 || true; done; chmod -R u+rwx .`)
			if _, err := os.Stat(mark); err == nil {
				t.Error("git ran what the command planted")
			}
		})
	}
}

// TestFoldersThatWereClosedBefore: a folder that the user closed is no change, and keeps its
// permissions and its content.
func TestFoldersThatWereClosedBefore(t *testing.T) {
	if os.Getuid() == 0 {
		nobodytest.Rerun(t)
		return
	}
	dir := newProject(t)
	bash(t, dir, "chmod 100 .git/hooks/pre-push; chmod 311 .git/hooks; chmod 0 below")
	end, err := New(filepath.Join(t.TempDir(), "aside")).Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if notes := end(); len(notes) > 0 {
		t.Errorf("the notes are %q", notes)
	}
	if got := modes(t, dir, ".git/hooks", ".git/hooks/pre-push", "below"); !slices.Equal(got, []fs.FileMode{0o311, 0o100, 0}) {
		t.Errorf("the permissions are %o", got)
	}
	bash(t, dir, "chmod -R u+rwx .")
}

// TestWhatCannotBeLookedAtIsReported, once: another user's folder cannot be opened up.
func TestWhatCannotBeLookedAtIsReported(t *testing.T) {
	dir := newProject(t)
	before, err := take(dir)
	if err != nil {
		t.Fatal(err)
	}
	after := snapshot{"below": {path: "below", kind: unseen}}
	changes := compare(before, after)
	if len(changes) != 1 || changes[0].path != "below" || !strings.Contains(changes[0].why, "could not be checked") {
		t.Errorf("the changes are %v", changes)
	}
	if again := compare(after, after); len(again) > 0 {
		t.Errorf("reported again: %v", again)
	}
}
