//go:build unix

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// git runs git in a folder, as a person does.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file of a project.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// repository makes the project of a machine a repository with one commit.
func (m *machine) repository(t testing.TB, text string) {
	t.Helper()
	git(t, m.folder, "init", "-q")
	write(t, m.folder, "a.txt", text)
	git(t, m.folder, "add", "-A")
	git(t, m.folder, "commit", "-qm", "first of "+text)
}

// withWork makes two machines with repositories, of which the first has changes.
func withWork(t testing.TB) (a, b *machine) {
	a, b = newPair(t)
	a.repository(t, "a")
	b.repository(t, "b")
	write(t, a.folder, "a.txt", "changed")
	write(t, a.folder, "new.txt", "new")
	return a, b
}

// checkFiles checks the worktree of a session that was moved with its files, and returns it.
func checkFiles(t testing.TB, a, b *machine, id string) *api.Worktree {
	t.Helper()
	tree := ask(t, b.client, api.GetSnapshot, api.SessionRequest{SessionID: id}).Session.Worktree
	if tree == nil {
		t.Fatal("the session has no worktree")
	}
	if status := git(t, tree.Folder, "status", "--porcelain"); status != "M a.txt\n?? new.txt" {
		t.Errorf("the state of the files: %q", status)
	}
	if head := git(t, tree.Folder, "rev-parse", "HEAD"); head != git(t, a.folder, "rev-parse", "HEAD") {
		t.Errorf("the commit is %s", head)
	}
	if branch := git(t, tree.Folder, "branch", "--show-current"); branch != tree.Branch {
		t.Errorf("the branch is %s, not %s", branch, tree.Branch)
	}
	if status := git(t, b.folder, "status", "--porcelain") + git(t, b.folder, "log", "--format=%s"); status != "first of b" {
		t.Errorf("the project itself: %q", status)
	}
	return tree
}

// TestASessionMovesWithItsFiles: they are in a worktree on the other machine, in which the session
// works on, and move back to a worktree beside the project that they came from.
func TestASessionMovesWithItsFiles(t *testing.T) {
	a, b := withWork(t)
	id := a.newSession(t, "s")
	m := &mover{from: a, to: b, sessionID: id, withFiles: true}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if move := m.await(t); move.State != api.MoveDone {
		t.Fatalf("%+v", move)
	}
	tree := checkFiles(t, a, b, id)
	ask(t, b.client, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "k", Text: "run touch made", AllowAll: true})
	b.until(t, id, "the turn", func(l api.Live) bool { return l.Turn == nil && len(l.Queue) == 0 })
	if _, err := os.Stat(filepath.Join(tree.Folder, "made")); err != nil {
		t.Errorf("the session does not work in its worktree: %v", err)
	}
	m = &mover{from: b, to: a, sessionID: id, withFiles: true}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.await(t)
	back := ask(t, a.client, api.GetSnapshot, api.SessionRequest{SessionID: id}).Session.Worktree
	if back == nil {
		t.Fatal("the session came back without its files")
	}
	if status := git(t, back.Folder, "status", "--porcelain"); status != "M a.txt\n?? made\n?? new.txt" {
		t.Errorf("the state of the files: %q", status)
	}
	if status := git(t, a.folder, "status", "--porcelain"); status != "M a.txt\n?? new.txt" {
		t.Errorf("the project that they came from: %q", status)
	}
}

// TestFilesThatCannotMove: the session stays, and the error says why.
func TestFilesThatCannotMove(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	try := func(want string) {
		t.Helper()
		m := &mover{from: a, to: b, sessionID: id, withFiles: true}
		if err := m.arrange(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		for _, move := range ask(t, a.client, api.ListMoves, api.Empty{}).Moves {
			ask(t, a.client, api.CancelMove, api.MoveRequest{MoveID: move.ID})
		}
		if owners := m.owners(t); len(owners) != 1 || owners[0] != a {
			t.Error("the session has moved")
		}
	}
	try("is not in a git repository, so its files cannot be moved")
	a.repository(t, "a")
	try("on the other machine is not in a git repository")
}

// TestFilesThatDoNotArrive: the repository on the other machine is gone when the session belongs
// to it already. The session arrives, and the files are kept as a bundle.
func TestFilesThatDoNotArrive(t *testing.T) {
	a, b := withWork(t)
	id := a.newSession(t, "s")
	b.stop(t)
	b.start(t, "taken 1")
	m := &mover{from: a, to: b, sessionID: id, withFiles: true}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.awaitEnd()
	if err := os.Rename(filepath.Join(b.folder, ".git"), filepath.Join(b.folder, "gone")); err != nil {
		t.Fatal(err)
	}
	b.start(t, "")
	m.await(t)
	if owners := m.owners(t); len(owners) != 1 || owners[0] != b {
		t.Fatal("the session did not move")
	}
	there := ask(t, b.client, api.GetMove, api.MoveRequest{MoveID: m.moveID}).Move
	bundle := filepath.Join(b.home, "moved", id+".bundle")
	if !strings.Contains(there.Error, bundle) {
		t.Errorf("the move says %q", there.Error)
	}
	if refs := git(t, a.folder, "bundle", "list-heads", bundle); strings.Count(refs, "refs/scorel/") != 2 {
		t.Errorf("the bundle has %q", refs)
	}
}

// TestAMoveOfFilesSurvivesKills kills either host at the steps of a move at which files are written
// or unpacked.
func TestAMoveOfFilesSurvivesKills(t *testing.T) {
	source := []string{"prepared 1", "started 1", "checked 1", "committed 1"}
	target := []string{"received 2", "verified 1", "taken 1", "unpacked 1", "added 1", "tree 1", "arrived 1"}
	for side, steps := range map[string][]string{"source": source, "target": target} {
		for _, step := range steps {
			t.Run(side+" "+step, func(t *testing.T) { killedWithFiles(t, side, step) })
		}
	}
}

func killedWithFiles(t *testing.T, side, step string) {
	a, b := withWork(t)
	id := a.newSession(t, "s")
	victim := map[string]*machine{"source": a, "target": b}[side]
	victim.stop(t)
	victim.start(t, step)
	m := &mover{from: a, to: b, sessionID: id, withFiles: true}
	arranged := m.arrange(t.Context())
	victim.awaitEnd()
	victim.start(t, "")
	if arranged != nil { // killed before it was started: the session stays
		for _, move := range ask(t, a.client, api.ListMoves, api.Empty{}).Moves {
			if _, err := client.Call(t.Context(), a.client, api.CancelMove, api.MoveRequest{MoveID: move.ID}); err != nil && kindOf(err) != api.KindNotFound {
				t.Fatal(err)
			}
		}
	} else if end := m.await(t); end.State == api.MoveDone {
		checkFiles(t, a, b, id)
	}
	if owners := m.owners(t); len(owners) != 1 {
		t.Fatalf("%d machines have the session", len(owners))
	}
	left, err := os.ReadDir(b.home + "-worktrees")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, project := range left {
		trees, err := os.ReadDir(filepath.Join(b.home+"-worktrees", project.Name()))
		if err != nil || len(trees) > 1 {
			t.Errorf("%d worktrees are left: %v", len(trees), err)
		}
	}
	if branches := strings.Fields(git(t, b.folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/")); len(branches) > 2 {
		t.Errorf("branches are left: %v", branches)
	}
}
