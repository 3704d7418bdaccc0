package chat

import (
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAHitOpensAtItsEntry, however far up it is, and again in the session that is open.
func TestAHitOpensAtItsEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.importLong(2000)
	w.indexed(`"message 700 of"`)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	for _, text := range []string{"message 700 of", "message 1301 of"} {
		w.key('g', tea.ModCtrl)
		w.await("Search all devices")
		w.write(`"` + text + `"`)
		w.until("the result", func(string) bool { return len(w.model.picker.rows) == 1 && !w.model.picker.loading })
		w.key(tea.KeyEnter, 0)
		w.until(text, func(screen string) bool {
			return w.model.picker == nil && strings.Contains(screen, text+" the session")
		})
		if w.model.session.Summary.ID != id || w.model.session.seek.entryID != "" {
			t.Errorf("the session is %s, sought is %+v", w.model.session.Summary.ID, w.model.session.seek)
		}
	}
}

// indexed waits until a search finds something.
func (w *world) indexed(query string) {
	w.t.Helper()
	c := w.client()
	defer func() { _ = c.Close() }() // everything was received
	for {
		found, err := client.Call(w.t.Context(), c, api.SearchSessions, api.SearchSessionsRequest{Query: query})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(found.Hits) > 0 && found.Behind == 0 {
			return
		}
	}
}

// TestTheWheelScrolls the transcript, and moves in a list.
func TestTheWheelScrolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.importLong(200)
	w.open(80, 24, func(cfg *Config) { cfg.Session = id })
	w.await("message 200 of")
	if w.model.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("the terminal is not asked for the mouse")
	}
	wheel := func(button tea.MouseButton) { w.send(tea.MouseWheelMsg{X: 10, Y: 10, Button: button}) }
	for strings.Contains(w.screen(), "message 200 of") {
		wheel(tea.MouseWheelUp)
	}
	before := w.screen()
	wheel(tea.MouseWheelUp)
	if w.screen() == before {
		t.Error("the wheel does not scroll up")
	}
	for !strings.Contains(w.screen(), "message 200 of") {
		wheel(tea.MouseWheelDown)
	}
	w.key(tea.KeyF1, 0)
	w.until("the help", func(string) bool { return w.model.picker != nil })
	wheel(tea.MouseWheelDown)
	if w.model.picker.at != 1 {
		t.Errorf("the wheel moved to row %d", w.model.picker.at)
	}
}

// TestColorsFitTheBackground that the terminal reports, at once and for all that is shown.
func TestColorsFitTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello")
	w.idle()
	shown := map[bool]string{}
	for _, background := range []color.Color{color.White, color.Black, color.White} {
		w.send(tea.BackgroundColorMsg{Color: background})
		dark, content := background == color.Black, w.model.View().Content
		if w.model.screen.theme.Dark != dark {
			t.Errorf("the theme for %v is dark: %v", background, w.model.screen.theme.Dark)
		}
		if before := shown[dark]; before != "" && before != content {
			t.Error("the same background looks different the second time")
		}
		shown[dark] = content
	}
	if shown[true] == shown[false] {
		t.Error("both themes look the same")
	}
}

// TestForkAndModel: a copy has the messages, and its model is its own.
func TestForkAndModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	config := "default_model = \"one\"\n[providers.p]\ntype = \"demo\"\n[models.one]\nprovider = \"p\"\nid = \"a\"\n[models.two]\nprovider = \"p\"\nid = \"b\"\n"
	if err := os.WriteFile(filepath.Join(w.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	w.startHost()
	w.open(80, 24, nil)
	w.prompt("hello")
	w.idle()
	first := w.model.session.Summary.ID
	w.prompt("/fork")
	w.until("the copy", func(screen string) bool {
		return w.model.session.Summary.ID != first && w.model.session.Summary.ID != "" && strings.Contains(screen, "❯ hello")
	})
	w.prompt("/model two")
	w.until("the model", func(string) bool { return w.model.session.Summary.Model == "two" })
	w.prompt("/model")
	w.until("the list of models", func(string) bool { return w.model.picker != nil && len(w.model.picker.rows) == 2 })
	w.key(tea.KeyEscape, 0)
	w.prompt("/model three")
	w.await("three")
	w.model.open(first)
	w.until("the first session", func(string) bool { return w.model.session.Summary.ID == first })
	if got := w.model.session.Summary.Model; got != "one" {
		t.Errorf("the model of the first session is %s", got)
	}
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
