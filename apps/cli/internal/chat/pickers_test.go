package chat

import (
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestSessionsModelsAndModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello")
	w.idle()
	first := w.model.session.Summary.ID
	w.key(tea.KeyTab, tea.ModShift)
	w.await("accept-edits")
	w.key('t', tea.ModCtrl)
	w.await("New session")
	w.key(tea.KeyTab, tea.ModShift)
	w.prompt("write free.txt: x")
	w.idle()
	if !exists(filepath.Join(w.folder, "free.txt")) {
		t.Error("the mode that was chosen before the session existed was not used")
	}
	w.prompt("/rename The second")
	w.await(" The second")
	w.key('r', tea.ModCtrl)
	w.await("hello  site")
	w.write("hello")
	w.key(tea.KeyEnter, 0)
	w.until("the first session", func(string) bool { return w.model.session.Summary.ID == first })
	w.write("/branches")
	w.key(tea.KeyEscape, 0)
	w.key(tea.KeyEnter, 0)
	w.await("Edit and resend")
	w.write("❯ hello")
	w.key(tea.KeyEnter, 0)
	w.until("the prompt in the field", func(string) bool { return w.model.field.editor.Text() == "hello" })
}

// TestSessionsWithoutAFolder: who attaches to a host without sessions can begin one there.
func TestSessionsWithoutAFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.importLong(2)
	w.open(80, 24, func(cfg *Config) { cfg.Folder = "" })
	w.await("New session")
	w.await("message 1 of the session")
	w.key(tea.KeyDown, 0)
	w.key(tea.KeyEnter, 0)
	w.await("Project of the new session")
	w.until("the project", func(string) bool { return w.model.picker != nil && len(w.model.picker.rows) == 1 })
	w.key(tea.KeyEnter, 0)
	w.prompt("hello")
	w.await("❯ hello")
	w.idle()
}
