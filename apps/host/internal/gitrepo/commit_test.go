package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestACommitWithoutItsIndexIsNotMade: if the index cannot be written, as on a full disk, the
// branch does not change, and the same commit can be made later.
func TestACommitWithoutItsIndexIsNotMade(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one\n"})
	bash(t, dir, "git init -q -b main . && git add . && git commit -qm first; echo two > a.txt; git config user.name a; git config user.email a@b")
	repo := Find(dir, none)
	head, err := repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	wrapper, lock := t.TempDir(), filepath.Join(dir, ".git", "index.lock")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *commit-tree*) rm '%s'; mkdir '%s';; esac\nexec '%s' \"$@\"\n", lock, lock, git)
	if err := os.WriteFile(filepath.Join(wrapper, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", wrapper+string(os.PathListSeparator)+path)
	commit := Commit{Head: head, Message: "second", Paths: []string{"a.txt"}}
	if _, err := repo.Commit(t.Context(), t.TempDir(), commit); err == nil || !strings.Contains(err.Error(), "writing the index") {
		t.Errorf("got %v", err)
	}
	if now, err := repo.Head(t.Context()); err != nil || now != head {
		t.Errorf("the commit is %s, %v, want %s", now, err, head)
	}
	t.Setenv("PATH", path)
	if _, err := repo.Commit(t.Context(), t.TempDir(), commit); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	bash(t, dir, `[ -z "$(git status --porcelain)" ]`)
	if _, err := os.Lstat(lock); err == nil {
		t.Error("the lock is still there")
	}
}

// TestLocksOfAKilledHost: a lock that a killed host left is removed at its next start, and that
// of another program is not.
func TestLocksOfAKilledHost(t *testing.T) {
	dir, scratch := folder(t, map[string]string{"a.txt": "one\n"}), t.TempDir()
	bash(t, dir, "git init -q -b main . && git add . && git commit -qm first")
	repo := Find(dir, none)
	lock, err := repo.lockIndex(scratch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.lockIndex(scratch); !errors.Is(err, ErrBusy) {
		t.Errorf("locked twice: %v", err)
	}
	if err := RemoveLocks(scratch); err != nil {
		t.Error(err)
	}
	bash(t, dir, "echo two > a.txt; git add a.txt")
	if err := os.WriteFile(lock.path, nil, 0o600); err != nil { // as git does
		t.Fatal(err)
	}
	if err := RemoveLocks(scratch); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(lock.path); err != nil {
		t.Errorf("the lock of another program: %v", err)
	}
	if err := lock.release(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left is %v, %v", left, err)
	}
	if err := RemoveLocks(filepath.Join(scratch, "none")); err != nil {
		t.Error(err)
	}
}
