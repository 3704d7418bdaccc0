package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bundled makes a bundle of two commits.
func bundled(t *testing.T, dir, head, files string) string {
	t.Helper()
	gitIn(t, dir, "", "update-ref", headRef, head)
	gitIn(t, dir, "", "update-ref", filesRef, files)
	path := filepath.Join(t.TempDir(), "bundle")
	gitIn(t, dir, "", "bundle", "create", "-q", path, headRef, filesRef)
	return path
}

// committed makes a commit with a tree that mktree makes of lines.
func committed(t *testing.T, dir, parent string, lines ...string) string {
	t.Helper()
	tree := gitIn(t, dir, strings.Join(lines, "\n")+"\n", "mktree", "--missing")
	args := []string{"commit-tree", "-m", "x", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return gitIn(t, dir, "", args...)
}

func unbundled(t *testing.T, path string, most int64) (*Bundle, error) {
	t.Helper()
	return Unbundle(context.WithoutCancel(t.Context()), filepath.Join(t.TempDir(), "new"), path, most)
}

// TestAHostileBundleIsRefused: trees that lead elsewhere, submodules that would run something,
// bundles that are not whole, and ones that claim more than the commits.
func TestAHostileBundleIsRefused(t *testing.T) {
	dir, _ := newRepo(t)
	head := gitIn(t, dir, "", "rev-parse", "HEAD")
	blob := gitIn(t, dir, "x", "hash-object", "-w", "--stdin")
	modules := gitIn(t, dir, "[submodule \"../../x\"]\n\tpath = m\n\turl = --upload-pack=touch\n", "hash-object", "-w", "--stdin")
	good := committed(t, dir, head, "100644 blob "+blob+"\ta")
	data, err := os.ReadFile(bundled(t, dir, head, good))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unbundled(t, bundled(t, dir, head, good), 1<<20); err != nil {
		t.Fatalf("a good bundle: %v", err)
	}
	inner := gitIn(t, dir, "100755 blob "+blob+"\tpost-checkout\n", "mktree")
	bundles := map[string]string{
		"a git directory":             bundled(t, dir, head, committed(t, dir, head, "040000 tree "+inner+"\t.git")),
		"one in other letters":        bundled(t, dir, head, committed(t, dir, head, "040000 tree "+inner+"\t.GIT")),
		"the folder above":            bundled(t, dir, head, committed(t, dir, head, "040000 tree "+inner+"\t..")),
		"a submodule that runs":       bundled(t, dir, head, committed(t, dir, head, "100644 blob "+modules+"\t.gitmodules")),
		"settings of modules, linked": bundled(t, dir, head, committed(t, dir, head, "120000 blob "+blob+"\t.gitmodules")),
		"commits that do not fit":     bundled(t, dir, head, committed(t, dir, "", "100644 blob "+blob+"\ta")),
		"no commit":                   bundled(t, dir, head, blob),
	}
	for what, text := range map[string]string{
		"nothing":              "",
		"something else":       "hello\n",
		"a cut pack":           string(data[:len(data)-30]),
		"no pack":              string(data[:strings.Index(string(data), "\n\n")+2]),
		"a commit it needs":    strings.Replace(string(data), "\n", "\n-"+head+" \n", 1),
		"another reference":    strings.Replace(string(data), "\n", "\n"+head+" refs/heads/main\n", 1),
		"a filter":             strings.Replace(string(data), "# v2 git bundle\n", "# v3 git bundle\n@filter=blob:none\n", 1),
		"the same twice":       strings.Replace(string(data), "\n", "\n"+head+" "+headRef+"\n", 1),
		"an endless line":      "# v2 git bundle\n" + strings.Repeat("a", 1<<20),
		"changed bytes inside": string(data[:len(data)-40]) + "xxxx" + string(data[len(data)-36:]),
	} {
		path := filepath.Join(t.TempDir(), "bundle")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		bundles[what] = path
	}
	var bad *BundleError
	for what, path := range bundles {
		if _, err := unbundled(t, path, 1<<20); !errors.As(err, &bad) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := unbundled(t, bundled(t, dir, head, good), 3); !errors.As(err, &bad) {
		t.Errorf("too large: %v", err)
	}
}

// TestABundleRunsAndWritesNothingElsewhere: links that lead out of the worktree, attributes that
// name filters of the repository, and hooks of the repository.
func TestABundleRunsAndWritesNothingElsewhere(t *testing.T) {
	dir, _ := newRepo(t)
	outside := t.TempDir()
	ran := filepath.Join(outside, "ran")
	blob := gitIn(t, dir, "x", "hash-object", "-w", "--stdin")
	link := gitIn(t, dir, outside, "hash-object", "-w", "--stdin")
	attributes := gitIn(t, dir, "* filter=evil\n", "hash-object", "-w", "--stdin")
	inner := gitIn(t, dir, "100644 blob "+blob+"\tran\n", "mktree")
	head := committed(t, dir, "", "120000 blob "+link+"\tdir", "120000 blob "+link+"\tkept")
	files := committed(t, dir, head, "100644 blob "+attributes+"\t.gitattributes", "040000 tree "+inner+"\tdir", "120000 blob "+link+"\tkept", "160000 commit "+head+"\tmodule")
	bundle, err := unbundled(t, bundled(t, dir, head, files), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	to, target := newRepo(t)
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "post-rewrite"} {
		path := filepath.Join(to, ".git", "hooks", hook)
		writeIn(t, to, ".git/hooks/"+hook, fmt.Sprintf("#!/bin/sh\ntouch %s\n", ran))
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"smudge", "clean", "process"} {
		gitIn(t, to, "", "config", "filter.evil."+name, "touch "+ran)
	}
	if err := target.Adopt(bundle); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "tree")
	if err := target.AddWorktree(t.Context(), t.TempDir(), Worktree{Folder: folder, Branch: "moved", Commit: bundle.Head, Files: bundle.Files}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "dir", "ran")); err != nil || string(data) != "x" {
		t.Errorf("the file in the worktree: %q %v", data, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside of it: %v %v", entries, err)
	}
	if entries, err := os.ReadDir(filepath.Join(folder, "module")); err == nil && len(entries) > 0 {
		t.Errorf("a submodule is filled: %v", entries)
	}
	if refs := gitIn(t, to, "", "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\nrefs/heads/moved" {
		t.Errorf("references: %q", refs)
	}
}

// TestObjectsOfALinkedFolderAreRefused: an agent has put its own folder for packs elsewhere.
func TestObjectsOfALinkedFolderAreRefused(t *testing.T) {
	dir, _ := newRepo(t)
	head := gitIn(t, dir, "", "rev-parse", "HEAD")
	bundle, err := unbundled(t, bundled(t, dir, head, committed(t, dir, head, "100644 blob "+gitIn(t, dir, "x", "hash-object", "-w", "--stdin")+"\ta")), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	to, target := newRepo(t)
	packs, outside := filepath.Join(to, ".git", "objects", "pack"), t.TempDir()
	if err := errors.Join(os.RemoveAll(packs), os.Symlink(outside, packs)); err != nil {
		t.Fatal(err)
	}
	if err := target.Adopt(bundle); err == nil {
		t.Error("the objects are adopted")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("written elsewhere: %v", entries)
	}
}
