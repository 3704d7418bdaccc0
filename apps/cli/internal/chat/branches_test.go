package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

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
