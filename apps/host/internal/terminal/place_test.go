//go:build !windows

package terminal_test

import (
	"os"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAShellStartsInItsProject, and not in a project that is not there.
func TestAShellStartsInItsProject(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	project := w.AddProject()
	request := api.OpenTerminalRequest{ClientKey: "k", ProjectID: project.ID, Cols: 80, Rows: 24}
	opened := dispatchtest.Call(t, s.Client, api.OpenTerminal, request).Terminal
	if opened.Cwd != project.Path || opened.ProjectID != project.ID {
		t.Errorf("opened %+v", opened)
	}
	s.attach(opened.ID, 0)
	s.write(opened.ID, "echo in:$(pwd)\n")
	s.shows("in:" + project.Path)
	request.ClientKey, request.ProjectID = "other", "nowhere"
	dispatchtest.Refused(t, s.Client, api.OpenTerminal, request, api.KindNotFound)
	gone := w.AddProject()
	if err := os.Remove(gone.Path); err != nil {
		t.Fatal(err)
	}
	request.ProjectID = gone.ID
	dispatchtest.Refused(t, s.Client, api.OpenTerminal, request, api.KindInvalidPath)
}

// TestAShellStartsWhereItsSessionWorks, which is not the project's folder if that has a worktree.
func TestAShellStartsWhereItsSessionWorks(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	project, other := w.AddProject(), w.AddProject()
	tree := t.TempDir()
	w.sessions["s1"] = api.Project{ID: project.ID, Path: tree}
	request := api.OpenTerminalRequest{ClientKey: "k", ProjectID: other.ID, SessionID: "s1", Cols: 80, Rows: 24}
	opened := dispatchtest.Call(t, s.Client, api.OpenTerminal, request).Terminal
	if opened.Cwd != tree || opened.ProjectID != project.ID || opened.SessionID != "s1" {
		t.Errorf("opened %+v", opened)
	}
	s.attach(opened.ID, 0)
	s.write(opened.ID, "echo in:$(pwd)\n")
	s.shows("in:" + tree)
	request.ClientKey, request.SessionID = "other", "nowhere"
	dispatchtest.Refused(t, s.Client, api.OpenTerminal, request, api.KindNotFound)
}

// TestEveryWindowLearnsOfNewTerminals: all connections of the client, and no other.
func TestEveryWindowLearnsOfNewTerminals(t *testing.T) {
	w := newWorld(t)
	one, two, stranger := w.connect("a"), w.connect("a"), w.connect("b")
	for _, s := range []*screen{one, two, stranger} { // the hub knows them now
		dispatchtest.Call(t, s.Client, api.ListTerminals, api.Empty{})
	}
	opened := one.open("k")
	two.until("the new terminal", func() bool { return two.lists == 1 })
	dispatchtest.Call(t, one.Client, api.CloseTerminal, api.TerminalRequest{TerminalID: opened.ID})
	two.until("its end", func() bool { return two.lists == 2 })
	one.until("both", func() bool { return one.lists == 2 })
	stranger.open("k") // its own events come in order
	stranger.until("its own", func() bool { return stranger.lists == 1 })
}
