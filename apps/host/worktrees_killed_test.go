//go:build linux

package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// felled is a grove whose host runs in a process that is killed at a call of git.
type felled struct {
	*grove
	root, saved, bin string
}

func newFelled(t *testing.T) *felled {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	f := &felled{bin: t.TempDir(), saved: t.TempDir()}
	t.Setenv("PATH", f.bin+":"+os.Getenv("PATH"))
	wrapper := fmt.Sprintf(`#!/bin/sh
n=$(($(cat %[1]s/count) + 1)); echo $n > %[1]s/count
[ "before $n" = "$(cat %[1]s/point)" ] && kill -9 $PPID && exit 1
%[2]s "$@"; code=$?
[ "after $n" = "$(cat %[1]s/point)" ] && kill -9 $PPID
exit $code
`, f.bin, real)
	if err := os.WriteFile(filepath.Join(f.bin, "git"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	f.killAt(t, "never")
	f.grove = newGrove(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "two\n"}, modeltest.Say("Done."))
	f.root = f.home + "-worktrees"
	return f
}

func (f *felled) killAt(t *testing.T, point string) {
	t.Helper()
	for name, text := range map[string]string{"count": "0", "point": point} {
		if err := os.WriteFile(filepath.Join(f.bin, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// save keeps the state of everything, and restore brings it back.
func (f *felled) save(t *testing.T) {
	f.stop()
	f.bash(t, f.saved, fmt.Sprintf("mkdir -p %[2]s; rm -rf a b c; cp -a %[1]s a; cp -a %[2]s b; cp -a %[3]s c", f.home, f.root, f.folder))
}

func (f *felled) restore(t *testing.T) {
	f.bash(t, f.saved, fmt.Sprintf("rm -rf %[1]s %[2]s %[3]s; cp -a a %[1]s; cp -a b %[2]s; cp -a c %[3]s", f.home, f.root, f.folder))
}

// killed does something in a host that is killed there, and starts another one. over says that
// it was done before the point.
func (f *felled) killed(t *testing.T, point string, do func(c *client.Client) error) (over bool) {
	t.Helper()
	f.restore(t)
	child := begin(t, thisProgram(t), f.home, 0)
	running, err := host.ReadState(f.home)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := client.DialDirect(t.Context(), running.Addr, running.Token)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, nil)
	f.killAt(t, point)
	if over = do(c) == nil; !over {
		<-c.Done() // no other error ends the connection
	}
	child.kill()
	_ = c.Close()
	f.killAt(t, "never")
	f.start(t)
	return over
}

// atEveryStep kills hosts at each call of git, before or after it, and checks what the next host
// does.
func (f *felled) atEveryStep(t *testing.T, whens []string, do func(c *client.Client) error, check func(t *testing.T)) {
	t.Helper()
	f.save(t)
	for _, when := range whens {
		for n, over := 1, false; !over && !t.Failed(); n++ {
			point := fmt.Sprint(when, " ", n)
			over = f.killed(t, point, do)
			check(t)
			f.stop()
			if t.Failed() {
				t.Logf("killed %s", point)
			}
			if over && n < 3 {
				t.Errorf("only %d calls of git: the test does not cover what it should", n-1)
			}
		}
	}
}

// holds checks that these sessions, and no others, have worktrees, and that nothing else is left.
func (f *felled) holds(t *testing.T, sessions ...api.SessionSummary) {
	t.Helper()
	trees := strings.Fields(f.bash(t, f.folder, "git worktree list --porcelain | grep ^worktree | cut -d' ' -f2-"))
	if len(trees) != 1+len(sessions) {
		t.Errorf("git knows %q, for %d sessions", trees, len(sessions))
	}
	if got := f.bash(t, f.folder, "git status --porcelain; git fsck 2>&1; find .git -name '*.lock'"); got != "" {
		t.Errorf("the project's repository: %s", got)
	}
	var want []string
	for _, s := range sessions {
		want = append(want, s.Worktree.Folder)
		if got := f.bash(t, s.Worktree.Folder, "git status --porcelain; cat a.txt sub/b.txt; git branch --show-current"); got != "one\ntwo\n"+s.Worktree.Branch {
			t.Errorf("in the worktree: %s", got)
		}
	}
	left, err := filepath.Glob(filepath.Join(f.root, "*", "*"))
	hidden, hiddenErr := filepath.Glob(filepath.Join(f.root, "*", ".removed*"))
	if err != nil || hiddenErr != nil || len(left) != len(want) || len(hidden) > 0 || len(left) == 1 && left[0] != want[0] {
		t.Errorf("the folder has %q and %q, want %q", left, hidden, want)
	}
}

func (f *felled) listed(t *testing.T) []api.SessionSummary {
	t.Helper()
	return call(t, f.c, api.ListSessions, api.ListSessionsRequest{Archived: api.ArchivedToo}).Sessions
}

func (f *felled) branches(t *testing.T) string {
	t.Helper()
	return f.bash(t, f.folder, "git branch --format='%(refname:short)' --list 'scorel/*'")
}

var before = []string{"before"}

func request[Req, Res any](t *testing.T, d api.Definition[Req, Res], r Req) func(c *client.Client) error {
	return func(c *client.Client) error {
		_, err := client.Call(t.Context(), c, d, r)
		return err
	}
}

// TestKilledWhileAWorktreeIsMade: the session has its worktree, or neither is there, and the same
// request makes both.
func TestKilledWhileAWorktreeIsMade(t *testing.T) {
	f := newFelled(t)
	create := api.CreateSessionRequest{ProjectID: f.project.ID, ClientKey: "1", Worktree: true}
	f.atEveryStep(t, []string{"before", "after"}, request(t, api.CreateSession, create), func(t *testing.T) {
		f.holds(t, f.listed(t)...)
		s := f.session(t, "1")
		f.holds(t, s)
		if got := f.branches(t); got != s.Worktree.Branch {
			t.Errorf("the branches are %q, not only %s", got, s.Worktree.Branch)
		}
	})
}

// TestKilledWhileAWorktreeIsRemoved, by the archive: it is there with all of its files, or gone.
// Then it is made again, in a host that is killed too.
func TestKilledWhileAWorktreeIsRemoved(t *testing.T) {
	f := newFelled(t)
	s := f.session(t, "1")
	f.bash(t, s.Worktree.Folder, "mkdir ignored; echo ignored > .gitignore; git add .gitignore; git commit -qm ignore; echo x > ignored/x")
	yes, no := true, false
	check := func(t *testing.T) {
		listed := f.listed(t)
		if len(listed) != 1 || listed[0].Worktree == nil {
			t.Fatalf("listed are %+v", listed)
		}
		if archived := listed[0].Archived; archived != listed[0].Worktree.Removed {
			t.Errorf("archived is %v: %+v", archived, listed[0].Worktree)
		}
		if listed[0].Worktree.Removed {
			f.holds(t)
		} else {
			f.holds(t, s)
		}
		if got := f.branches(t); got != s.Worktree.Branch {
			t.Errorf("the branch with the commit: %q", got)
		}
	}
	f.atEveryStep(t, before, request(t, api.UpdateSession, api.UpdateSessionRequest{SessionID: s.ID, Archived: &yes}), func(t *testing.T) {
		check(t)
		f.archive(t, s.ID, true)
		f.holds(t)
	})
	f.start(t) // the last one has archived it
	f.atEveryStep(t, before, request(t, api.UpdateSession, api.UpdateSessionRequest{SessionID: s.ID, Archived: &no}), func(t *testing.T) {
		if got := f.archive(t, s.ID, false); got.Worktree.Removed || got.Archived {
			t.Errorf("out of the archive: %+v", got)
		}
		f.holds(t, s)
		check(t)
	})
}

// TestKilledWhileASessionIsDeleted: nothing of its worktree is left, or all of it.
func TestKilledWhileASessionIsDeleted(t *testing.T) {
	f := newFelled(t)
	s := f.session(t, "1")
	f.atEveryStep(t, before, request(t, api.DeleteSession, api.SessionRequest{SessionID: s.ID}), func(t *testing.T) {
		listed := f.listed(t)
		f.holds(t, listed...)
		for _, s := range listed {
			call(t, f.c, api.DeleteSession, api.SessionRequest{SessionID: s.ID})
		}
		f.holds(t)
		if got := f.branches(t); got != "" {
			t.Errorf("left are the branches %q", got)
		}
	})
}

// TestWhatAKilledHostLeftOfAWorktree: a removal that had begun is finished, and nothing is removed
// that the host did not write.
func TestWhatAKilledHostLeftOfAWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"})
	s, made := g.session(t, "1"), g.session(t, "2")
	g.stop()
	list, err := state.LoadWorktrees(state.Paths{Home: g.home}.Worktrees())
	if err != nil {
		t.Fatal(err)
	}
	doing := func(id string, doing state.WorktreeDoing) {
		if err := list.Change(id, func(t *state.Worktree) { t.Doing = doing }); err != nil {
			t.Error(err)
		}
	}
	doing(s.ID, state.WorktreeRemoving)
	doing(made.ID, state.WorktreeAdding)
	dir, name := filepath.Split(s.Worktree.Folder)
	g.bash(t, dir, "mv "+name+" .removed-"+name+"; rm .removed-"+name+"/a.txt")
	g.bash(t, made.Worktree.Folder, "echo mine > mine.txt")
	g.bash(t, g.home, "grep -l "+made.ID+" -r sessions | xargs rm") // it was never there
	g.start(t)
	listed := call(t, g.c, api.ListSessions, api.ListSessionsRequest{Archived: api.ArchivedToo}).Sessions
	if len(listed) != 1 || listed[0].ID != s.ID || !listed[0].Worktree.Removed {
		t.Errorf("listed are %+v", listed)
	}
	g.has(t, filepath.Join(made.Worktree.Folder, "mine.txt"), "mine\n")
	if got := g.bash(t, dir, "ls -A; cd "+g.folder+"; git worktree list | wc -l"); got != filepath.Base(made.Worktree.Folder)+"\n2" {
		t.Errorf("left are %s", got)
	}
	if got := g.archive(t, s.ID, false); got.Worktree.Removed {
		t.Errorf("out of the archive: %+v", got.Worktree)
	}
	g.has(t, filepath.Join(s.Worktree.Folder, "a.txt"), "one\n")
}
