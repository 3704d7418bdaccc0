package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// sizes are those of the golden screens.
var sizes = [][2]int{{80, 24}, {120, 40}, {40, 20}}

// everySize compares the screen in all sizes.
func (w *world) everySize(name string) {
	w.t.Helper()
	for _, size := range sizes {
		w.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for i, line := range strings.Split(w.model.View().Content, "\n") {
			if i >= size[1] || ansi.StringWidth(line) > size[0] {
				w.t.Errorf("%s: row %d is outside of %v: %q", name, i, size, line)
			}
		}
		w.golden(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]))
	}
}

// TestGoldenScreens plays a session with a real host and compares what a person sees.
func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	w.everySize("start")

	w.prompt("hello")
	w.await("• use TOOL")
	w.idle()
	w.everySize("answer")

	w.prompt("write notes.txt: one")
	w.waitForCard()
	w.everySize("approval")
	w.answer('y')
	w.idle()
	if text, err := os.ReadFile(filepath.Join(w.folder, "notes.txt")); err != nil || string(text) != "one\n" {
		t.Fatalf("the allowed call wrote %q, %v", text, err)
	}

	w.prompt(`use patch {"path":"notes.txt","old_string":"one","new_string":"two\nthree"}`)
	w.waitForCard()
	w.everySize("approval-diff")
	w.answer('y')
	w.idle()
	w.everySize("diff")

	w.prompt(`use todo {"todos":[{"id":"a","content":"Read the code","status":"completed"},{"id":"b","content":"Fix the tests","status":"in_progress"},{"id":"c","content":"Write docs","status":"pending"}]}`)
	w.await("Todos 1/3")
	w.idle()
	w.prompt(`use clarify {"question":"Which **color**?","choices":["Red","Blue"]}`)
	w.waitForCard()
	w.everySize("question")
	w.answer('2')
	w.idle()

	w.write("/mo")
	w.everySize("commands")
	w.key('c', tea.ModCtrl)
	w.write("see @not")
	w.until("the file", func(string) bool { return len(w.model.complete.list.rows) == 1 })
	w.everySize("files")
	w.key('c', tea.ModCtrl)
	w.key('r', tea.ModCtrl)
	w.await("New session")
	w.everySize("sessions")
}
