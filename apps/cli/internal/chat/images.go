package chat

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// image is attached to the next prompt.
type image struct {
	name string
	data []byte
}

// paste inserts a text. The path of an image, as terminals paste it when a file is dropped on
// them, attaches the image.
func (m *Model) paste(text string) tea.Cmd {
	m.notice.clear()
	switch {
	case m.cfg.Watch:
		return nil
	case m.picker != nil:
		return m.picker.insert(strings.Join(strings.Fields(text), " "))
	case m.card.focused: // a pasted text must not answer anything
		return nil
	}
	if path, ok := pastedPath(text); ok && !m.card.writing {
		if err := m.attachFile(path); err == nil {
			return nil
		}
	}
	m.editor.Insert(text)
	return m.suggest()
}

// pastedPath reads a text that is nothing but the path of an image, with the quotes or
// backslashes that terminals add.
func pastedPath(text string) (string, bool) {
	path := strings.TrimSpace(text)
	if strings.ContainsRune(path, '\n') || len(path) > api.MaxPath {
		return "", false
	}
	path = strings.TrimPrefix(strings.Trim(path, `'"`), "file://")
	path = strings.ReplaceAll(path, `\ `, " ")
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return path, filepath.IsAbs(path)
	}
	return "", false
}

// attachFile reads an image from this machine.
func (m *Model) attachFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, api.MaxImageBytes+1))
	if err != nil {
		return err
	}
	return m.attach(filepath.Base(path), data)
}

// attach adds an image to the next prompt.
func (m *Model) attach(name string, data []byte) error {
	if len(m.images) >= api.MaxImages {
		return fmt.Errorf("a prompt can have at most %d images: send the others with another prompt", api.MaxImages)
	}
	if len(data) > api.MaxImageBytes {
		return fmt.Errorf("%s is larger than the limit of %d bytes: make the image smaller", name, api.MaxImageBytes)
	}
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return fmt.Errorf("%s is not a PNG, JPEG, GIF or WebP image: convert it, or send it as a file with `scorel send --file`", name)
	}
	m.images = append(m.images, image{name, data})
	return nil
}
