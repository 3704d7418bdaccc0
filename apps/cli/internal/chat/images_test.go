package chat

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestAnImageIsAttachedByItsPath, as a terminal pastes it.
func TestAnImageIsAttachedByItsPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	path := filepath.Join(w.folder, "a picture.png")
	if err := os.WriteFile(path, pngPixel, 0o600); err != nil {
		t.Fatal(err)
	}
	w.send(tea.PasteMsg{Content: strings.ReplaceAll(path, " ", `\ `)})
	w.await("[image a picture.png]")
	w.prompt("what is this?")
	w.await("[image png]")
	w.await("your message has images")
	w.idle()
}

// TestAnAttachedImageIsRemoved with the key that clears the field, and does not leave the chat.
func TestAnAttachedImageIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	for _, code := range []rune{'d', 'c'} {
		if err := w.model.field.attach("a.png", pngPixel); err != nil {
			t.Fatal(err)
		}
		if _, cmd := w.model.Update(tea.KeyPressMsg{Code: code, Mod: tea.ModCtrl}); quits(cmd) {
			t.Errorf("Ctrl+%c leaves the chat, and the image is lost", code)
		}
	}
	if n := len(w.model.field.images); n != 0 {
		t.Errorf("%d images are attached", n)
	}
	if _, cmd := w.model.Update(tea.KeyPressMsg{Code: 'd', Mod: tea.ModCtrl}); !quits(cmd) {
		t.Error("Ctrl+D does not leave an empty field")
	}
}

// quits reports whether a command is the one that leaves the chat.
func quits(cmd tea.Cmd) bool { return cmd != nil && cmd() == tea.Msg(tea.QuitMsg{}) }

// pngPixel is an image of one pixel.
var pngPixel = func() []byte {
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return data
}()
