package chat

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestALongSessionOpensInAWindow: what is not visible is not loaded, and comes when it is
// scrolled to.
func TestALongSessionOpensInAWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.importLong(2000)
	w.open(80, 24, func(cfg *Config) { cfg.Session = id })
	w.await("message 2000 of the session")
	if n := len(w.model.session.Path); n > api.WindowEntries {
		t.Errorf("%d entries were loaded at once", n)
	}
	for w.model.session.Before != 0 {
		before := w.model.session.Before
		w.key(tea.KeyHome, tea.ModCtrl)
		w.until("earlier entries", func(string) bool { return w.model.session.Before != before })
	}
	w.key(tea.KeyHome, tea.ModCtrl)
	w.await("message 1 of the session")
	w.key(tea.KeyEnd, tea.ModCtrl)
	w.await("message 2000 of the session")
}

// TestSubagentsAreShown with their states, while they work and in the log.
func TestSubagentsAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(100, 30, nil)
	w.prompt(`use delegate_parallel {"tasks":[{"agent":"explore","title":"the parser","prompt":"hello"},{"agent":"general","title":"the writer","prompt":"hello"}]}`)
	w.await("the parser")
	w.await("the writer")
	w.idle()
	for _, text := range []string{"the parser", "the writer"} {
		if !strings.Contains(w.screen(), text) {
			t.Errorf("%q is not in the log:\n%s", text, w.screen())
		}
	}
	again := w.model.session.Summary.ID
	w.model.begin()
	w.model.open(again)
	w.await("the writer")
}
