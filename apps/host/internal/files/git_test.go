package files_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/files"
	"github.com/scorel/scorel/packages/protocol/api"
)

// repository makes the folder a repository with one commit.
func (w *world) repository() {
	w.t.Helper()
	w.write("client.go", "package client\n\nfunc A() {}\n")
	w.write("gone.txt", "gone\n")
	w.write(".gitignore", "ignored\n.scorel\n")
	w.bash("git init -q -b main . && git add . && git commit -qm first")
}

func (w *world) status() api.GitStatusResponse {
	w.t.Helper()
	return dispatchtest.Call(w.t, w.local, api.GitStatus, api.GitStatusRequest{Place: w.at()})
}

func TestStatusDiffLogBranches(t *testing.T) {
	w := newWorld(t)
	if s := w.status(); s.Repository || len(s.Files) > 0 {
		t.Errorf("without a repository: %+v", s)
	}
	dispatchtest.Refused(t, w.local, api.GitLog, api.GitLogRequest{Place: w.at()}, api.KindNotFound)
	w.repository()
	w.write("client.go", "package client\n\nfunc A() int { return 1 }\n")
	w.write("new file.txt", "one\ntwo\n")
	w.write("-option", "x\n")
	w.write("ignored", "x\n")
	w.write(".env", "THE-KEY\n")
	w.write("data", "a\x00b")
	w.bash("rm gone.txt && git add -- -option && git branch other && ln -s /etc/passwd link")
	s := w.status()
	got := map[string]api.GitFile{}
	for _, file := range s.Files {
		got[file.Path] = file
	}
	if s.Branch != "main" || s.Head != w.bash("git rev-parse HEAD") || len(s.Files) != 7 || got["client.go"].Status != api.FileModified ||
		got["gone.txt"].Status != api.FileDeleted || !got["-option"].Staged || !got["new file.txt"].Untracked {
		t.Errorf("status: %+v", s)
	}
	diff := dispatchtest.Call(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at()})
	files := map[string]api.FileChange{}
	for _, file := range diff.Files {
		if file.Diff != "" {
			t.Errorf("a list has the diff of %s", file.Path)
		}
		files[file.Path] = file
	}
	if files["new file.txt"].Added != 2 || files["client.go"].Removed != 1 || !files["data"].Binary || !files["link"].Closed || files[".env"].Path != "" && !files[".env"].Closed {
		t.Errorf("diff: %+v", diff)
	}
	one := dispatchtest.Call(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: "client.go"})
	if len(one.Files) != 1 || one.Files[0].Diff != "--- a/client.go\n+++ b/client.go\n@@ -1,3 +1,3 @@\n package client\n \n-func A() {}\n+func A() int { return 1 }\n" {
		t.Errorf("one file: %+v", one)
	}
	for _, path := range []string{".env", "link"} {
		for _, file := range dispatchtest.Call(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: path}).Files {
			if file.Diff != "" || !file.Closed {
				t.Errorf("%s: %+v", path, file)
			}
		}
	}
	log := dispatchtest.Call(t, w.local, api.GitLog, api.GitLogRequest{Place: w.at()})
	if len(log.Commits) != 1 || log.Commits[0].Subject != "first" || log.Commits[0].Author != "Ann" || log.Next != "" {
		t.Errorf("log: %+v", log)
	}
	first := dispatchtest.Call(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Commit: log.Commits[0].ID[:10], Path: "gone.txt"})
	if len(first.Files) != 1 || !strings.Contains(first.Files[0].Diff, "+gone") {
		t.Errorf("the first commit: %+v", first)
	}
	branches := dispatchtest.Call(t, w.local, api.GitBranches, api.GitBranchesRequest{Place: w.at()})
	if len(branches.Branches) != 2 || branches.Branches[0].Current == branches.Branches[1].Current {
		t.Errorf("branches: %+v", branches)
	}
	for _, commit := range []string{"--output=x", "HEAD", "main", "0000000000", strings.Repeat("f", 40)} {
		dispatchtest.Refused(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Commit: commit}, api.KindNotFound)
		dispatchtest.Refused(t, w.local, api.GitLog, api.GitLogRequest{Place: w.at(), From: commit}, api.KindNotFound)
	}
}

func TestGitCommitCommitsOnlyWhatIsNamed(t *testing.T) {
	w := newWorld(t)
	w.repository()
	head := w.bash("git rev-parse HEAD")
	w.write("client.go", "package client\n")
	w.write("new.txt", "new\n")
	w.write("other.txt", "other\n")
	w.bash("rm gone.txt && git add other.txt")
	request := api.GitCommitRequest{Place: w.at(), ClientKey: "k1", Head: head, Message: "second\n\nWhy.", Paths: []string{"client.go", "new.txt", "gone.txt"}}
	made := dispatchtest.Call(t, w.local, api.GitCommit, request)
	if again := dispatchtest.Call(t, w.local, api.GitCommit, request); again != made {
		t.Errorf("repeated: %+v, %+v", again, made)
	}
	if got := w.bash("git log -1 --format=%H%n%B && git show --name-status --format= HEAD && git status --porcelain"); got != made.Commit+"\nsecond\n\nWhy.\n\nM\tclient.go\nD\tgone.txt\nA\tnew.txt\nA  other.txt" {
		t.Errorf("the repository is %q", got)
	}
	request.ClientKey = "k2"
	dispatchtest.Refused(t, w.local, api.GitCommit, request, api.KindConflict) // the head has moved
	request.Head = made.Commit
	dispatchtest.Refused(t, w.local, api.GitCommit, request, api.KindNotFound) // gone.txt is not in it
	request.Paths = []string{"client.go", "new.txt"}
	dispatchtest.Refused(t, w.local, api.GitCommit, request, api.KindConflict) // nothing to commit
	request.Message = " \n"
	dispatchtest.Refused(t, w.local, api.GitCommit, request, api.KindBadRequest)
	request.Message = "x"
	for _, path := range []string{"../x", ".git/config", ".env", "-A\x00", "/etc/passwd"} {
		request.Paths = []string{path}
		if _, err := dispatchtest.Try(t, w.local, api.GitCommit, request); err == nil {
			t.Errorf("%q is committed", path)
		}
	}
	w.bash("touch .git/MERGE_HEAD")
	request.Paths = []string{"other.txt"}
	dispatchtest.Refused(t, w.local, api.GitCommit, request, api.KindConflict)
	w.bash("rm .git/MERGE_HEAD && touch .git/index.lock")
	dispatchtest.Refused(t, w.local, api.GitCommit, request, api.KindConflict)
	w.bash("rm .git/index.lock")
	dispatchtest.Call(t, w.local, api.GitCommit, request)
}

// TestTheStartRemovesALock that a host left which was killed while it committed.
func TestTheStartRemovesALock(t *testing.T) {
	w := newWorld(t)
	w.repository()
	w.write(".git/index.lock", "MARK")
	w.write(".scorel/run/git/lock-MARK", filepath.Join(w.dir, ".git", "index.lock"))
	if _, err := files.New(files.Options{Logger: w.Log, Paths: w.Paths}); err != nil {
		t.Fatal(err)
	}
	w.bash("git add .")
}

func TestGitCommitIsTheFirst(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "a\n")
	w.bash("git init -q -b main .")
	made := dispatchtest.Call(t, w.local, api.GitCommit, api.GitCommitRequest{Place: w.at(), ClientKey: "k", Message: "first", Paths: []string{"a.txt"}})
	if got := w.bash("git log --format=%H main"); got != made.Commit {
		t.Errorf("%q, want %q", got, made.Commit)
	}
}

// TestGitRunsNothing is the table of attacks on git: whatever a repository names as a program
// does not run. "evil X" prints the path of a program that leaves a mark named X. ran lists the
// marks that plain git leaves there, so that each line is known to be an attack.
func TestGitRunsNothing(t *testing.T) {
	for name, c := range map[string]struct{ script, ran string }{
		"settings": {`git config core.fsmonitor $(evil watcher); git config diff.external $(evil external); git config core.pager $(evil pager); git config pager.log $(evil pager)
			git config diff.x.textconv $(evil textconv); git config diff.x.command $(evil command); git config merge.x.driver $(evil merge); echo 'gone.txt diff=x merge=x' > .git/info/attributes
			git config core.editor $(evil editor); git config log.showSignature true; git config gpg.program $(evil gpg); git config user.signingKey x
			git config credential.helper "!$(evil helper)"; git config alias.status "!$(evil alias)"; git config alias.diff "!$(evil alias)"; git config core.askPass $(evil askpass)`,
			"watcher external textconv editor gpg"},
		"hooks": {`for h in pre-commit prepare-commit-msg commit-msg post-commit reference-transaction post-index-change post-checkout pre-auto-gc; do cp $(evil $h) .git/hooks/$h; done`,
			"pre-commit post-index-change"},
		"a folder of hooks":      {`mkdir h; cp $(evil hook) h/reference-transaction; git config core.hooksPath h`, "hook"},
		"a filter":               {`git config filter.x.clean $(evil clean); git config filter.x.smudge $(evil smudge); echo 'client.go filter=x' > .gitattributes`, "clean"},
		"a process":              {`git config filter.x.process $(evil process); echo 'client.go filter=x' > .git/info/attributes`, "process"},
		"included settings":      {`printf '[core]\n\tfsmonitor = %s\n' $(evil watcher) > more; git config include.path ../more`, "watcher"},
		"settings of a worktree": {`git config extensions.worktreeConfig true; printf '[core]\n\tfsmonitor = %s\n' $(evil watcher) > .git/config.worktree`, "watcher"},
		"a module":               {`git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub; git commit -qm sub; git -C sub config core.fsmonitor $(evil watcher); touch sub/x`, "watcher"},
		"a missing object": {`git config extensions.partialClone origin; git config remote.origin.promisor true; git config core.repositoryformatversion 1; git config protocol.ext.allow always
			git config remote.origin.url "ext::$(evil transport)"; rm .git/objects/$(git rev-parse HEAD:gone.txt | sed 's,..,&/,')`, "transport"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.repository()
			marks := t.TempDir()
			w.bash("evil() { printf '#!/bin/sh\\ntouch " + marks + "/%s\\nexit 1\\n' $1 > " + marks + "/$1.sh; chmod +x " + marks + "/$1.sh; echo " + marks + "/$1.sh; }\n" + c.script)
			w.write("client.go", "package client // changed\n")
			w.write("new.txt", "new\n")
			head := w.bash("git rev-parse HEAD")
			for _, mark := range strings.Fields(c.ran) { // of the line before
				if err := os.Remove(filepath.Join(marks, mark)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			try(t, w, api.GitStatus, api.GitStatusRequest{Place: w.at()})
			try(t, w, api.GitDiff, api.GitDiffRequest{Place: w.at()})
			try(t, w, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: "client.go"})
			try(t, w, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: "gone.txt", Commit: head})
			try(t, w, api.GitLog, api.GitLogRequest{Place: w.at()})
			try(t, w, api.GitBranches, api.GitBranchesRequest{Place: w.at()})
			try(t, w, api.GitCommit, api.GitCommitRequest{Place: w.at(), ClientKey: "k", Head: head, Message: "m", Paths: []string{"client.go", "new.txt"}})
			for _, mark := range ranIn(t, marks) {
				t.Errorf("%s ran", mark)
			}
			w.bash(`( echo >> client.go; echo >> gone.txt; git status; git diff; git -c diff.external= diff; git log -p; git cat-file -p "$(git rev-list --max-parents=0 HEAD)":gone.txt; git add client.go
				git commit -m x; git commit --allow-empty; git commit -S -m y --allow-empty; cd sub && git status ) > /dev/null 2>&1 < /dev/null || true`)
			ran := ranIn(t, marks)
			for _, mark := range strings.Fields(c.ran) {
				if !slices.Contains(ran, mark) {
					t.Errorf("%s is no attack: plain git does not run it either", mark)
				}
			}
		})
	}
}

// ranIn lists the marks in a folder.
func ranIn(t *testing.T, folder string) (marks []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".sh") {
			marks = append(marks, entry.Name())
		}
	}
	return marks
}

// try sends a request that may fail.
func try[Request, Response any](t *testing.T, w *world, to api.Definition[Request, Response], request Request) {
	t.Helper()
	if _, err := dispatchtest.Try(t, w.local, to, request); err != nil {
		t.Logf("%s: %v", to.Name(), err)
	}
}

// TestARepositoryElsewhere: a file in the project that names another repository gives no way
// to change it, and none to read scorel's own folder.
func TestARepositoryElsewhere(t *testing.T) {
	w := newWorld(t)
	other := t.TempDir()
	w.bash("cd " + other + " && git init -q -b main . && git commit -q --allow-empty -m theirs")
	w.write(".git", "gitdir: "+other+"/.git\n")
	w.write("a.txt", "a\n")
	s := w.status()
	dispatchtest.Refused(t, w.local, api.GitCommit, api.GitCommitRequest{Place: w.at(), ClientKey: "k", Head: s.Head, Message: "m", Paths: []string{"a.txt"}}, api.KindNotAllowed)
	w.bash("rm .git && git init -q .scorel/repo && echo 'gitdir: .scorel/repo/.git' > .git")
	if s := w.status(); s.Repository {
		t.Errorf("a repository in scorel's own folder: %+v", s)
	}
}

// TestPathsThatDoNotExist: a path outside of the folder, and one that is neither on disk nor in the
// commit, are errors that name it, and nothing is committed beside it.
func TestPathsThatDoNotExist(t *testing.T) {
	w := newWorld(t)
	w.repository()
	w.bash("rm gone.txt")
	w.write("client.go", "package client\n")
	head := w.status().Head
	for _, path := range []string{"../a", "/etc/passwd"} {
		dispatchtest.Refused(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: path}, api.KindInvalidPath)
	}
	dispatchtest.Refused(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: "nope.txt"}, api.KindNotFound)
	for _, path := range []string{"gone.txt", ".gitignore"} {
		dispatchtest.Call(t, w.local, api.GitDiff, api.GitDiffRequest{Place: w.at(), Path: path})
	}
	commit := api.GitCommitRequest{Place: w.at(), ClientKey: "k", Head: head, Message: "m", Paths: []string{"client.go", "nope.txt"}}
	dispatchtest.Refused(t, w.local, api.GitCommit, commit, api.KindNotFound)
	commit.Paths = []string{"client.go", "gone.txt"}
	dispatchtest.Call(t, w.local, api.GitCommit, commit)
}
