package gitrepo

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitIn runs git as a person does.
func gitIn(t *testing.T, dir string, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// newRepo is a repository with one commit.
func newRepo(t *testing.T) (string, *Repo) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "", "init", "-q")
	writeIn(t, dir, "kept", "kept\n")
	writeIn(t, dir, "changed", "old\n")
	writeIn(t, dir, "deleted", "x\n")
	writeIn(t, dir, "sub/.keep", "")
	writeIn(t, dir, ".gitignore", "ignored\n")
	gitIn(t, dir, "", "add", "-A")
	gitIn(t, dir, "", "commit", "-qm", "first")
	return dir, found(t, dir)
}

func found(t *testing.T, dir string) *Repo {
	t.Helper()
	repo := Find(dir, func(string) bool { return false })
	if repo == nil {
		t.Fatal("no repository")
	}
	return repo
}

// open closes no file.
func open(string) bool { return false }

// TestABundleHasNoChangesOfClosedFiles: a closed file arrives as it was committed, or not at all, and
// one that was deleted is deleted.
func TestABundleHasNoChangesOfClosedFiles(t *testing.T) {
	from, repo := newRepo(t)
	for _, name := range []string{"changed", "sub/new", "sub/open"} {
		writeIn(t, from, name, "secret\n")
	}
	if err := os.Remove(filepath.Join(from, "deleted")); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(t.TempDir(), "bundle")
	file, err := os.Create(bundle)
	if err != nil {
		t.Fatal(err)
	}
	closed := func(path string) bool { return path != "sub/open" }
	skipped, err := repo.WriteBundle(t.Context(), t.TempDir(), closed, file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(skipped); !slices.Equal(skipped, []string{"changed", "sub/new"}) {
		t.Errorf("skipped: %q", skipped)
	}
	unpacked, err := Unbundle(t.Context(), filepath.Join(t.TempDir(), "new"), bundle, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Adopt(unpacked); err != nil {
		t.Fatal(err)
	}
	if got := gitIn(t, from, "", "diff-tree", "-r", "--name-status", unpacked.Head, unpacked.Files); got != "D\tdeleted\nA\tsub/open" {
		t.Errorf("the changes in the bundle: %q", got)
	}
}

// TestABundleHasTheFilesAsTheyAre: history, changed, new and deleted files arrive in a worktree of
// a repository that has nothing to do with the first one, and are not committed there.
func TestABundleHasTheFilesAsTheyAre(t *testing.T) {
	from, repo := newRepo(t)
	writeIn(t, from, "changed", "new\n")
	writeIn(t, from, "sub/added", "added\n")
	writeIn(t, from, "staged", "staged\n")
	gitIn(t, from, "", "add", "staged")
	writeIn(t, from, "ignored", "secret")
	writeIn(t, from, ".git/info/exclude", "excluded\n")
	writeIn(t, from, "excluded", "secret")
	if err := os.Remove(filepath.Join(from, "deleted")); err != nil {
		t.Fatal(err)
	}
	writeIn(t, from, "other/file", "x")
	gitIn(t, filepath.Join(from, "other"), "", "init", "-q")
	before := gitIn(t, from, "", "status", "--porcelain")
	bundle := filepath.Join(t.TempDir(), "bundle")
	file, err := os.Create(bundle)
	if err != nil {
		t.Fatal(err)
	}
	skipped, err := repo.WriteBundle(t.Context(), t.TempDir(), open, file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if len(skipped) != 1 || skipped[0] != "other/" {
		t.Errorf("skipped: %q", skipped)
	}
	if after := gitIn(t, from, "", "status", "--porcelain"); after != before {
		t.Errorf("the repository has changed: %s", after)
	}
	unpacked, err := Unbundle(t.Context(), filepath.Join(t.TempDir(), "new"), bundle, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	_, target := newRepo(t)
	if err := errors.Join(target.Adopt(unpacked), target.Adopt(unpacked)); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "tree")
	w := Worktree{Folder: folder, Branch: "scorel/moved", Commit: unpacked.Head, Files: unpacked.Files}
	if err := target.AddWorktree(t.Context(), t.TempDir(), w); err != nil {
		t.Fatal(err)
	}
	if got := gitIn(t, folder, "", "status", "--porcelain", "--untracked-files=all"); got != "M changed\n D deleted\n?? staged\n?? sub/added" {
		t.Errorf("the state of the worktree: %q", got)
	}
	if head := gitIn(t, folder, "", "rev-parse", "HEAD"); head != gitIn(t, from, "", "rev-parse", "HEAD") {
		t.Errorf("the commit is %s", head)
	}
	if used, err := target.used(t.Context(), t.TempDir(), w); err != nil || used {
		t.Errorf("what was just made counts as used: %t %v", used, err)
	}
	writeIn(t, folder, "mine", "x")
	if used, err := target.used(t.Context(), t.TempDir(), w); err != nil || !used {
		t.Errorf("a file of a person does not count: %t %v", used, err)
	}
}

// TestWhatIsNotBundled: states of a repository in which a bundle would not be whole.
func TestWhatIsNotBundled(t *testing.T) {
	for what, c := range map[string]struct {
		change func(dir string)
		want   error
	}{
		"a merge":         {func(dir string) { writeIn(t, dir, ".git/MERGE_HEAD", "x") }, ErrBusy},
		"a shallow clone": {func(dir string) { writeIn(t, dir, ".git/shallow", "x") }, ErrPartial},
		"a part of it":    {func(dir string) { writeIn(t, dir, ".git/info/sparse-checkout", "x") }, ErrPartial},
		"a filter": {func(dir string) {
			writeIn(t, dir, ".gitattributes", "changed filter=lfs\n")
			writeIn(t, dir, "changed", "y")
		}, ErrFiltered},
		"without a commit": {func(dir string) { gitIn(t, dir, "", "update-ref", "-d", "HEAD") }, ErrNoCommit},
	} {
		dir, repo := newRepo(t)
		c.change(dir)
		if _, err := repo.WriteBundle(t.Context(), t.TempDir(), open, &bytes.Buffer{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// refuser takes some bytes only.
type refuser struct{ left int }

var errEnough = errors.New("enough")

func (r *refuser) Write(p []byte) (int, error) {
	if r.left -= len(p); r.left < 0 {
		return 0, errEnough
	}
	return len(p), nil
}

func TestABundleIsBounded(t *testing.T) {
	_, repo := newRepo(t)
	if _, err := repo.WriteBundle(t.Context(), t.TempDir(), open, &refuser{left: 100}); !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
}
