package chat

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// image is attached to the next prompt.
type image struct {
	name string
	data []byte
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
func (f *field) attachFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, api.MaxImageBytes+1))
	if err != nil {
		return err
	}
	return f.attach(filepath.Base(path), data)
}

// attach adds an image to the next prompt.
func (f *field) attach(name string, data []byte) error {
	if len(f.images) >= api.MaxImages {
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
	f.images = append(f.images, image{name, data})
	return nil
}

// upload uploads the images of a prompt and refers to them.
func upload(r remote, request *api.SendPromptRequest, images []image) error {
	if len(images) == 0 {
		return nil
	}
	if request.Text != "" {
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockText, Text: request.Text})
		request.Text = ""
	}
	for _, picture := range images {
		hash, err := feed.With(r.ctx, r.feed, func(c *client.Client) (string, error) { return client.Upload(r.ctx, c, picture.data) })
		if err != nil {
			return err
		}
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockImage, SHA256: hash})
	}
	return nil
}
