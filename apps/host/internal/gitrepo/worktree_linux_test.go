package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// withoutRoot runs a function whose access to files is that of a user, even if root runs the test.
func withoutRoot(t *testing.T, do func() error) error {
	t.Helper()
	if os.Getuid() != 0 {
		return do()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setfsuid(0) }() // it does not fail for root
	return do()
}

const nobody = 65534

// TestFilesThatCannotBeRemoved stay beside a worktree, which can be made again.
func TestFilesThatCannotBeRemoved(t *testing.T) {
	repo, tree, _ := newTree(t)
	aside := filepath.Join(filepath.Dir(tree), ".removed-"+filepath.Base(tree))
	bash(t, tree, "mkdir -p ignored/fixed; echo x > ignored/fixed/x; chmod 555 ignored/fixed; chmod 777 ..")
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(aside, "ignored", "fixed"), 0o755) // the folders of the test are removed
	})
	owned := func(uid int, folders string) {
		if os.Getuid() == 0 {
			bash(t, repo.work, fmt.Sprintf("chown -R %d %s", uid, folders))
		}
	}
	owned(nobody, ". "+tree)
	if err := withoutRoot(t, func() error { return repo.RemoveWorktree(tree) }); err == nil {
		t.Error("nothing says that a file is left")
	}
	if _, err := os.Lstat(filepath.Join(aside, "ignored", "fixed", "x")); err != nil {
		t.Fatalf("the test removes all: %v", err)
	}
	owned(0, ".")
	if err := repo.AddWorktree(t.Context(), t.TempDir(), Worktree{Folder: tree, Branch: "scorel/x"}); err != nil {
		t.Errorf("it cannot be made again: %v", err)
	}
}
