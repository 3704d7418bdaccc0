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

// pngPixel is an image of one pixel.
var pngPixel = func() []byte {
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return data
}()
