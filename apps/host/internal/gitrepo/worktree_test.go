package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newTree makes a repository whose settings, attributes and hooks name programs, and adds a
// worktree to it.
func newTree(t *testing.T) (repo *Repo, tree, mark string) {
	t.Helper()
	dir := folder(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "two\n", ".gitattributes": "* filter=evil\n", ".gitignore": "ignored\n"})
	mark = filepath.Join(filepath.Dir(dir), "mark")
	bash(t, dir, `git init -q -b main . && git add . && git commit -qm first
		for h in post-checkout post-index-change reference-transaction pre-commit; do printf '#!/bin/sh\ntouch `+mark+`\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done
		git config filter.evil.smudge 'touch `+mark+`; cat'; git config filter.evil.clean 'touch `+mark+`; cat'; git config core.fsmonitor 'touch `+mark+`; false'`)
	_ = os.Remove(mark)
	repo = Find(dir, none)
	head, err := repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree = filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-tree")
	t.Cleanup(func() { _ = os.RemoveAll(tree) })
	if err := repo.AddWorktree(t.Context(), t.TempDir(), Worktree{Folder: tree, Branch: "scorel/x", Commit: head}); err != nil {
		t.Fatal(err)
	}
	return repo, tree, mark
}

func (r *Repo) unsaved(t *testing.T, folder string) Unsaved {
	t.Helper()
	got, err := r.Unsaved(t.Context(), t.TempDir(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestWorktreesRunNothing: making, comparing and removing a worktree starts none of the
// programs that the repository names.
func TestWorktreesRunNothing(t *testing.T) {
	repo, tree, mark := newTree(t)
	if text, err := os.ReadFile(filepath.Join(tree, "sub", "b.txt")); err != nil || string(text) != "two\n" {
		t.Errorf("%q, %v", text, err)
	}
	write(t, filepath.Join(tree, "ignored"), "x")
	if got := repo.unsaved(t, tree); got != Saved {
		t.Errorf("a new worktree has %q", got)
	}
	if found := Find(tree, none); found == nil || found.Branch() != "scorel/x" || !found.owned() || found.Dir() != "" {
		t.Errorf("%+v", found)
	}
	if err := repo.RemoveWorktree(tree); err != nil {
		t.Fatal(err)
	}
	if deleted, err := repo.DeleteMerged(t.Context(), "scorel/x"); err != nil || !deleted {
		t.Errorf("the branch: %v, %v", deleted, err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("git ran a program of the repository")
	}
	bash(t, repo.work, `git config --remove-section filter.evil; git config --unset core.fsmonitor; rm .git/hooks/*; git fsck; [ "$(git worktree list | wc -l)" = 1 ]`)
}

// TestWhatAWorktreeWouldLose: nothing that is only in a worktree counts as saved.
func TestWhatAWorktreeWouldLose(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   Unsaved
	}{
		"a changed file":           {"echo x > a.txt", UnsavedFiles},
		"a new file":               {"echo x > new.txt", UnsavedFiles},
		"a deleted file":           {"rm a.txt", UnsavedFiles},
		"a staged file":            {"echo x > a.txt; git add a.txt; git show HEAD:a.txt > a.txt", UnsavedFiles},
		"a hidden change":          {"git update-index --assume-unchanged a.txt; echo x > a.txt", UnsavedFiles},
		"a file that git skips":    {"git update-index --skip-worktree a.txt; echo x > a.txt", UnsavedFiles},
		"a file that is excluded":  {"echo new.txt >> $(git rev-parse --git-path info/exclude); echo x > new.txt", UnsavedFiles},
		"a commit":                 {"echo x > a.txt; git commit -qam x", Saved},
		"a commit on no branch":    {"git checkout -q --detach; echo x > a.txt; git commit -qam x", UnsavedCommit},
		"a merge":                  {"git checkout -q -b o; echo o > a.txt; git commit -qam o; git checkout -q -; echo p > a.txt; git commit -qam p; git merge -q o || true", UnsavedWork},
		"a lock":                   {"git worktree lock .", UnsavedWork},
		"a repository":             {"git init -q deep; cd deep; git commit -q --allow-empty -m x", UnsavedRepo},
		"one in an ignored folder": {"mkdir -p out/lib; cd out/lib; git init -q .; git commit -q --allow-empty -m x", UnsavedRepo},
		"a bare one there":         {"mkdir out; git init -q --bare out/lib", UnsavedRepo},
		"one that is ignored":      {"git init -q out; cd out; git commit -q --allow-empty -m x", UnsavedRepo},
		"one with tracked files":   {"mkdir d; echo x > d/f; git add d; git commit -qm d; cd d; git init -q .; git add f; git commit -qm x", UnsavedRepo},
		"a worktree":               {"git worktree add -q out", UnsavedRepo},
		"ignored files":            {"mkdir -p out/node_modules/a/refs out/node_modules/a/objects out/node_modules/.bin; ln -s .. out/a; echo x > out/node_modules/a/HEAD.js; echo x > out/f", Saved},
		"a tracked bare one":       {"git init -q --bare data; touch data/objects/x data/refs/x; rm -rf data/hooks; git add -f data; git commit -qm data", Saved},
		"a gone folder":            {"rm -rf ../*-tree", Saved},
	} {
		t.Run(name, func(t *testing.T) {
			repo, tree, _ := newTree(t)
			bash(t, repo.work, "rm .git/hooks/*; git config --remove-section filter.evil; git config --unset core.fsmonitor")
			bash(t, tree, "echo out/ >> .gitignore; git add .gitignore; git commit -qm ignored")
			bash(t, tree, c.script)
			if got := repo.unsaved(t, tree); got != c.want {
				t.Errorf("unsaved is %q, want %q", got, c.want)
			}
		})
	}
}

// TestBranchesWithCommitsStay: a branch is deleted only if another one has its commits.
func TestBranchesWithCommitsStay(t *testing.T) {
	repo, tree, _ := newTree(t)
	bash(t, repo.work, "rm .git/hooks/*; git config --remove-section filter.evil; git config --unset core.fsmonitor")
	bash(t, tree, "echo x > a.txt; git commit -qam x")
	if err := repo.RemoveWorktree(tree); err != nil {
		t.Fatal(err)
	}
	if deleted, err := repo.DeleteMerged(t.Context(), "scorel/x"); err != nil || deleted {
		t.Errorf("deleted is %v, %v", deleted, err)
	}
	if err := repo.AddWorktree(t.Context(), t.TempDir(), Worktree{Folder: tree, Branch: "scorel/x"}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(tree, "a.txt")); err != nil || string(text) != "x\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestWorktreesStayInTheirRepository: parts of a repository that a command has replaced by
// links do not lead out.
func TestWorktreesStayInTheirRepository(t *testing.T) {
	for _, part := range []string{"worktrees", "refs/heads", "logs"} {
		dir := folder(t, map[string]string{"a.txt": "one\n"})
		victim := t.TempDir()
		bash(t, dir, "git init -q -b main . && git add . && git commit -qm first; git pack-refs --all; rm -rf .git/"+part+"; ln -s "+victim+" .git/"+part)
		err := Find(dir, none).AddWorktree(t.Context(), t.TempDir(), Worktree{Folder: filepath.Join(t.TempDir(), "tree"), Branch: "scorel/x", Commit: strings.Repeat("0", 40)})
		if !errors.Is(err, ErrElsewhere) {
			t.Errorf("%s: %v", part, err)
		}
		if entries, _ := os.ReadDir(victim); len(entries) > 0 {
			t.Errorf("%s: written were %v", part, entries)
		}
	}
}
