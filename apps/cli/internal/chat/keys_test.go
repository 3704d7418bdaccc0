package chat

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestWatchingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.waitForCard()
	id := w.model.session.Summary.ID
	w.open(80, 24, func(cfg *Config) { cfg.Session, cfg.Watch = id, true })
	w.await("View only in this terminal")
	w.clock = w.clock.Add(time.Minute)
	w.write("yan")
	w.key(tea.KeyTab, 0)
	w.write("y")
	w.key('j', tea.ModCtrl)
	w.key(tea.KeyEscape, 0)
	if w.model.card.sent || w.model.card.focused || !w.model.field.editor.Empty() {
		t.Fatal("a terminal that only watches answered or wrote something")
	}
	if w.model.session.Live.Turn == nil || w.model.session.Live.Turn.Cancelling {
		t.Fatal("a terminal that only watches canceled the turn")
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
