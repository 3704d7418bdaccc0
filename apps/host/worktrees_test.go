//go:build unix

package host_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// grove is a scene with a repository, whose sessions work in worktrees.
type grove struct {
	*scene
	h       *host.Host
	cfg     host.Config
	project api.Project
	stop    func()
}

func newGrove(t *testing.T, files map[string]string, steps ...modeltest.Step) *grove {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": filepath.Join(t.TempDir(), "global"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
	} {
		t.Setenv(name, value)
	}
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &grove{scene: newScene(t, files, steps...)}
	g.bash(t, g.folder, "git init -q -b main . && git add . && git commit -qm first")
	g.cfg = host.Config{Home: g.home, Projects: []string{g.folder}, Helper: helper, NoRelay: true, Getenv: noEnv}
	g.start(t)
	return g
}

// start starts the host, again after stop.
func (g *grove) start(t *testing.T) {
	t.Helper()
	g.h, g.stop = hosttest.Run(t, g.cfg)
	g.c = dial(t, g.h, func(e api.EventEnvelope) {
		if ended, ok := e.Event.(api.TurnEnded); ok {
			g.mu.Lock()
			g.ended = append(g.ended, ended)
			g.mu.Unlock()
			g.cond.Broadcast()
		}
	})
	g.project = call(t, g.c, api.ListProjects, api.Empty{}).Projects[0]
}

func (g *grove) bash(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// session creates a session in a worktree.
func (g *grove) session(t *testing.T, key string) api.SessionSummary {
	t.Helper()
	s := call(t, g.c, api.CreateSession, api.CreateSessionRequest{ProjectID: g.project.ID, ClientKey: key, Worktree: true}).Session
	if s.Worktree == nil {
		t.Fatalf("%+v has no worktree", s)
	}
	return s
}

// turn sends a prompt that is allowed everything, and waits for the n-th end of a turn.
func (g *grove) turn(t *testing.T, sessionID string, n int) api.TurnEnded {
	t.Helper()
	call(t, g.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: sessionID})
	call(t, g.c, api.SendPrompt, api.SendPromptRequest{SessionID: sessionID, ClientKey: fmt.Sprint("p", n), Text: "begin", AllowAll: true})
	return g.wait(n)
}

func (g *grove) archive(t *testing.T, sessionID string, archived bool) api.SessionSummary {
	t.Helper()
	return call(t, g.c, api.UpdateSession, api.UpdateSessionRequest{SessionID: sessionID, Archived: &archived}).Session
}

func (g *grove) has(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is %q, %v, want %q", path, got, err, want)
	}
}

// writes has an agent change the same file by a tool and commit it with a command.
func writes(text string) []modeltest.Step {
	return []modeltest.Step{
		modeltest.Calls(
			modeltest.Call(text+"1", "patch", fmt.Sprintf(`{"path":"a.txt","old_string":"one","new_string":%q}`, text)),
			modeltest.Call(text+"2", "bash", fmt.Sprintf(`{"command":"cat a.txt; git commit -qam %s && git log --format=%%s%%d -1"}`, text)),
		),
		modeltest.Say("Done."),
	}
}

// TestSessionsSideBySide: two sessions change the same file of a project in worktrees of their
// own, and the project's folder stays as it is.
func TestSessionsSideBySide(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"}, append(writes("first"), writes("second")...)...)
	g.bash(t, g.folder, "echo mine >> a.txt") // uncommitted work is not taken along
	one, two := g.session(t, "1"), g.session(t, "2")
	if again := g.session(t, "1"); again.ID != one.ID || again.Worktree.Folder != one.Worktree.Folder {
		t.Errorf("the same request made %+v", again)
	}
	for n, s := range []api.SessionSummary{one, two} {
		if end := g.turn(t, s.ID, n+1); end.StopReason != session.StopEnd {
			t.Fatalf("%+v", end)
		}
	}
	g.has(t, filepath.Join(g.folder, "a.txt"), "one\nmine\n")
	g.has(t, filepath.Join(one.Worktree.Folder, "a.txt"), "first\n")
	g.has(t, filepath.Join(two.Worktree.Folder, "a.txt"), "second\n")
	for _, s := range []struct {
		api.SessionSummary
		text string
	}{{one, "first"}, {two, "second"}} {
		if got := g.bash(t, g.folder, "git log --format=%s "+s.Worktree.Branch); got != s.text+"\nfirst" {
			t.Errorf("%s has the commits %q", s.Worktree.Branch, got)
		}
		changes := call(t, g.c, api.GetChanges, api.GetChangesRequest{SessionID: s.ID})
		if len(changes.Files) != 1 || !changes.Files[0].ByTools {
			t.Errorf("changes: %+v", changes)
		}
		status := call(t, g.c, api.GitStatus, api.GitStatusRequest{Place: api.Place{SessionID: s.ID}})
		if status.Branch != s.Worktree.Branch || len(status.Files) > 0 {
			t.Errorf("status: %+v", status)
		}
	}
	if !strings.Contains(g.asked(2), "scorel/") || strings.Contains(g.asked(2), "mine") {
		t.Errorf("the model was told %s", g.asked(2))
	}
}

// TestTerminalsOpenInTheWorktree of their session, and say what to do if it was removed.
func TestTerminalsOpenInTheWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"})
	s := g.session(t, "1")
	request := api.OpenTerminalRequest{ClientKey: "1", ProjectID: g.project.ID, SessionID: s.ID, Cols: 80, Rows: 24}
	if got := call(t, g.c, api.OpenTerminal, request).Terminal; got.Cwd != s.Worktree.Folder || got.ProjectID != g.project.ID {
		t.Errorf("opened %+v", got)
	}
	plain := call(t, g.c, api.CreateSession, api.CreateSessionRequest{ProjectID: g.project.ID, ClientKey: "2"}).Session
	request.ClientKey, request.SessionID = "2", plain.ID
	if got := call(t, g.c, api.OpenTerminal, request).Terminal; got.Cwd != g.project.Path {
		t.Errorf("opened %+v", got)
	}
	g.archive(t, s.ID, true)
	request.ClientKey, request.SessionID = "3", s.ID
	refusedWith(t, g.c, api.OpenTerminal, request, "take the session out of the archive")
}

// TestTheMainCheckoutIsOutOfReach of commands in a worktree, although it lies below /tmp, where
// commands can write; they can commit all the same.
func TestTheMainCheckoutIsOutOfReach(t *testing.T) {
	const script = `main=$(dirname $(git rev-parse --path-format=absolute --git-common-dir)); ` +
		`echo x > $main/a.txt; rm $main/a.txt; mv $main $main.old; mv $(dirname $PWD) /tmp/moved; mkdir $(dirname $PWD)/new; ` +
		`echo mine > a.txt && git commit -qam mine && git gc -q && mktemp && echo committed`
	g := newGrove(t, map[string]string{"a.txt": "one\n"},
		modeltest.Calls(modeltest.Call("a", "bash", fmt.Sprintf(`{"command":%q}`, script))), modeltest.Say("Done."))
	if !strings.HasPrefix(g.folder, "/tmp/") {
		t.Fatalf("the test needs a folder below /tmp, not %s", g.folder)
	}
	s := g.session(t, "1")
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd || !strings.Contains(g.asked(2), "committed") {
		t.Fatalf("%+v: %s", end, g.asked(2))
	}
	g.has(t, filepath.Join(g.folder, "a.txt"), "one\n")
	g.has(t, filepath.Join(s.Worktree.Folder, "a.txt"), "mine\n")
	if _, err := os.Lstat(filepath.Join(filepath.Dir(s.Worktree.Folder), "new")); err == nil {
		t.Error("a command wrote beside its worktree")
	}
}

const planting = `h=$(git rev-parse --path-format=absolute --git-common-dir); mkdir -p $h/hooks || true; printf '#!/bin/sh\ntouch $MARK\n' > $h/hooks/post-commit || true; chmod +x $h/hooks/post-commit || true; ` +
	`git config core.fsmonitor 'touch $MARK; false' || true; echo 'gitdir: /elsewhere' > .git || true; mv $h $h.old || true; echo planted`

// TestNothingIsPlantedFromAWorktree: a command in a worktree leaves nothing in the project's
// repository that git would run.
func TestNothingIsPlantedFromAWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"},
		modeltest.Calls(modeltest.Call("a", "bash", fmt.Sprintf(`{"command":%q}`, planting))), modeltest.Say("Done."))
	g.bash(t, g.folder, "rm -rf .git/hooks")
	s := g.session(t, "1")
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd || !strings.Contains(g.asked(2), "planted") {
		t.Fatalf("%+v: %s", end, g.asked(2))
	}
	mark := filepath.Join(t.TempDir(), "mark")
	for _, dir := range []string{g.folder, s.Worktree.Folder} {
		g.bash(t, dir, "export MARK="+mark+"; git status; git commit -q --allow-empty -m x")
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("git ran what a command in a worktree had planted")
	}
	if got := call(t, g.c, api.GitStatus, api.GitStatusRequest{Place: api.Place{SessionID: s.ID}}); got.Branch != s.Worktree.Branch {
		t.Errorf("status: %+v", got)
	}
}

// TestWorktreesOfTheArchive: a worktree is removed with its session if nothing is lost, kept if
// something is, and made again for the next prompt, also after a restart of the host.
func TestWorktreesOfTheArchive(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"},
		modeltest.Calls(modeltest.Call("a", "write_file", `{"path":"new.txt","content":"new\n"}`)), modeltest.Say("Done."), modeltest.Say("Again."), modeltest.Say("Lost."))
	s := g.session(t, "1")
	tree := *s.Worktree
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd {
		t.Fatalf("%+v", end)
	}
	if got := g.archive(t, s.ID, true); !got.Archived || got.Worktree.Removed || got.Worktree.Kept != api.KeptUncommitted {
		t.Errorf("with a new file: %+v", got.Worktree)
	}
	g.bash(t, tree.Folder, "git add . && git commit -qm new")
	if got := g.archive(t, s.ID, true); !got.Worktree.Removed || got.Worktree.Kept != "" {
		t.Errorf("with a commit: %+v", got.Worktree)
	}
	if _, err := os.Lstat(tree.Folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	refusedWith(t, g.c, api.GitStatus, api.GitStatusRequest{Place: api.Place{SessionID: s.ID}}, "archive")
	g.stop()
	g.start(t)
	if end := g.turn(t, s.ID, 2); end.StopReason != session.StopEnd || !strings.Contains(g.asked(3), "made again from its branch") {
		t.Fatalf("%+v: %s", end, g.asked(3))
	}
	g.has(t, filepath.Join(tree.Folder, "new.txt"), "new\n")
	listed := call(t, g.c, api.ListSessions, api.ListSessionsRequest{}).Sessions
	if len(listed) != 1 || listed[0].Worktree == nil || listed[0].Worktree.Removed || listed[0].Archived {
		t.Errorf("%+v", listed)
	}
	if err := os.RemoveAll(tree.Folder); err != nil {
		t.Fatal(err)
	}
	if end := g.turn(t, s.ID, 3); end.StopReason != session.StopError || !strings.Contains(end.Error, "is missing: restore the folder") {
		t.Errorf("without its folder: %+v", end)
	}
	if got := g.archive(t, s.ID, true); !got.Worktree.Removed {
		t.Errorf("without its folder: %+v", got.Worktree)
	}
	if got := g.archive(t, s.ID, false); got.Worktree.Removed || got.Archived {
		t.Errorf("out of the archive: %+v", got.Worktree)
	}
	g.has(t, filepath.Join(tree.Folder, "new.txt"), "new\n")
}

// TestDeletedSessionsLoseNothing: forks share a worktree, which is removed with the last of them
// if nothing is lost.
func TestDeletedSessionsLoseNothing(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"}, modeltest.Say("One."))
	s := g.session(t, "1")
	g.turn(t, s.ID, 1)
	fork := call(t, g.c, api.ForkSession, api.ForkSessionRequest{SessionID: s.ID, ClientKey: "f"}).Session
	if fork.Worktree == nil || fork.Worktree.Folder != s.Worktree.Folder {
		t.Fatalf("the fork works in %+v", fork.Worktree)
	}
	if got := g.archive(t, s.ID, true); got.Worktree.Kept != api.KeptShared {
		t.Errorf("with a fork: %+v", got.Worktree)
	}
	if got := call(t, g.c, api.DeleteSession, api.SessionRequest{SessionID: s.ID}); got.Worktree != nil {
		t.Errorf("with a fork: %+v", got.Worktree)
	}
	g.bash(t, fork.Worktree.Folder, "echo x > a.txt")
	kept := call(t, g.c, api.DeleteSession, api.SessionRequest{SessionID: fork.ID}).Worktree
	if kept == nil || kept.Kept != api.KeptUncommitted || kept.Folder != fork.Worktree.Folder {
		t.Errorf("with changes: %+v", kept)
	}
	g.has(t, filepath.Join(fork.Worktree.Folder, "a.txt"), "x\n")
	clean := g.session(t, "2")
	if got := call(t, g.c, api.DeleteSession, api.SessionRequest{SessionID: clean.ID}); got.Worktree != nil {
		t.Errorf("without changes: %+v", got)
	}
	if branches := g.bash(t, g.folder, "git branch --format='%(refname:short)' --list 'scorel/*'"); branches != fork.Worktree.Branch {
		t.Errorf("left are the branches %q", branches)
	}
}

// TestSetupOfAWorktree: the script of a trusted project runs before the first turn, in the
// worktree; its failure is told and the turn follows.
func TestSetupOfAWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n", ".scorel/worktree-setup": "#!/bin/sh\necho prepared | tee made.txt\nexit 3\n"},
		modeltest.Say("Untrusted."), modeltest.Say("Trusted."), modeltest.Say("Once."))
	g.bash(t, g.folder, "chmod +x .scorel/worktree-setup && git commit -qam script")
	s := g.session(t, "1")
	if g.turn(t, s.ID, 1); !strings.Contains(g.asked(1), "did not run, because the project is not trusted") {
		t.Errorf("untrusted: %s", g.asked(1))
	}
	call(t, g.c, api.TrustProject, api.TrustProjectRequest{ProjectID: g.project.ID, Trusted: true})
	s = g.session(t, "2")
	if end := g.turn(t, s.ID, 2); end.StopReason != session.StopEnd || !strings.Contains(g.asked(2), "prepared\\n[exit code 3]") {
		t.Errorf("%+v: %s", end, g.asked(2))
	}
	g.has(t, filepath.Join(s.Worktree.Folder, "made.txt"), "prepared\n")
	if g.turn(t, s.ID, 3); strings.Count(g.asked(3), "prepared") != 1 {
		t.Errorf("it ran again: %s", g.asked(3))
	}
	if got := call(t, g.c, api.GetChanges, api.GetChangesRequest{SessionID: s.ID}); len(got.Files) > 0 {
		t.Errorf("its files count as changes of the session: %+v", got.Files)
	}
}

// TestTheSetupWaitsForAPerson, also across a restart of the host: it runs once, after the answer
// and before the turn.
func TestTheSetupWaitsForAPerson(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n", ".scorel/worktree-setup": "#!/bin/sh\necho prepared >> made.txt\n"}, modeltest.Say("Done."))
	g.bash(t, g.folder, "chmod +x .scorel/worktree-setup && git commit -qam script")
	call(t, g.c, api.TrustProject, api.TrustProjectRequest{ProjectID: g.project.ID, Trusted: true})
	s := g.session(t, "1")
	watch := func() (*client.Client, chan api.Approval) {
		asked := make(chan api.Approval, 8)
		c := dial(t, g.h, func(e api.EventEnvelope) {
			if request, ok := e.Event.(api.ApprovalRequested); ok {
				asked <- request.Approval
			}
		})
		for _, each := range call(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.ID}).Live.Approvals {
			asked <- each
		}
		return c, asked
	}
	c, asked := watch()
	call(t, c, api.SendPrompt, api.SendPromptRequest{SessionID: s.ID, ClientKey: "p", Text: "begin"})
	if first := <-asked; !strings.HasPrefix(first.Title, "Set up the worktree") {
		t.Fatalf("asked was %+v", first)
	}
	g.stop()
	g.start(t)
	c, asked = watch()
	call(t, g.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.ID})
	if _, err := os.Lstat(filepath.Join(s.Worktree.Folder, "made.txt")); err == nil {
		t.Error("it ran without an answer")
	}
	call(t, c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: s.ID, ApprovalID: (<-asked).ID, Decision: api.DecisionAllow})
	if end := g.wait(1); end.StopReason != session.StopEnd || !strings.Contains(g.asked(1), "worktree-setup of the project ran") {
		t.Fatalf("%+v: %s", end, g.asked(1))
	}
	g.has(t, filepath.Join(s.Worktree.Folder, "made.txt"), "prepared\n")
}

// TestProjectsWithoutWorktrees: the errors say what to do, and no session is left.
func TestProjectsWithoutWorktrees(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"})
	request := api.CreateSessionRequest{ProjectID: g.project.ID, ClientKey: "1", Worktree: true}
	g.bash(t, g.folder, "rm -rf .git")
	refusedWith(t, g.c, api.CreateSession, request, "is not in a git repository")
	g.bash(t, g.folder, "git init -q .")
	refusedWith(t, g.c, api.CreateSession, request, "has no commit yet")
	if listed := call(t, g.c, api.ListSessions, api.ListSessionsRequest{}).Sessions; len(listed) > 0 {
		t.Errorf("left are %+v", listed)
	}
}

// refusedWith makes a call that is refused with an error that says why.
func refusedWith[Req, Res any](t *testing.T, c *client.Client, d api.Definition[Req, Res], request Req, why string) {
	t.Helper()
	if _, err := client.Call(t.Context(), c, d, request); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("the answer is %v, not %q", err, why)
	}
}
