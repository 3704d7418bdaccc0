package host

import (
	"path/filepath"
	"time"

	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// notesPath returns the path that names the notes of a folder: that of the project, also in a
// worktree, without symbolic links.
func (w *wiring) notesPath(cwd string) string {
	cwd = w.worktrees.Origin(cwd)
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		return real
	}
	return cwd
}

// givenNotes selects the notes that a session in a folder begins with.
func (w *wiring) givenNotes(cwd string) session.Memory {
	given, err := w.memory.Given(w.notesPath(cwd))
	if err != nil {
		w.log.Warn("a session begins without some of the notes", "error", err)
	}
	return given
}

// recordTurn adds a turn that has ended to the journal of its project.
func (w *wiring) recordTurn(project api.Project, turn sessions.JournalTurn) {
	err := w.memory.Project(w.notesPath(project.Path)).Journal().Add(time.Now(), memory.Event{
		Session: turn.Session, Title: turn.Title, Said: turn.Said, Failed: turn.Failed,
	})
	if err != nil {
		w.log.Warn("a turn is missing in the journal", "session", turn.Session, "error", err)
	}
}

// forgetTurns removes a deleted session from the journal of its project.
func (w *wiring) forgetTurns(projectID, sessionID string) {
	project, ok := w.projects.Get(projectID)
	if !ok {
		return
	}
	if err := w.memory.Project(w.notesPath(project.Path)).Journal().Forget(sessionID); err != nil {
		w.log.Error("removing a deleted session from the journal", "session", sessionID, "error", err)
	}
}
