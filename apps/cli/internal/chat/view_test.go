package chat

import (
	"image/color"
	"testing"

	tea "charm.land/bubbletea/v2"
)

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

// TestTheViewAsksForTheFocus: without it, a terminal reports nothing.
func TestTheViewAsksForTheFocus(t *testing.T) {
	w := newWorld(t)
	w.open(80, 24, nil)
	if !w.model.View().ReportFocus {
		t.Error("the terminal is not asked to report its focus")
	}
}
