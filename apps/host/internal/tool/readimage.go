package tool

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// imageHead is how many bytes of a file are needed to recognize an image.
const imageHead = 16

// image reads an image file. It returns false, with the file offset unchanged, if the file
// is not an image.
func (t readFile) image(call agent.Call, path, full string, file *os.File) (result agent.Result, isImage bool) {
	var head [imageHead]byte
	n, _ := file.ReadAt(head[:], 0) // the caller's next read reports any error
	kind := picture.Sniff(head[:n])
	if kind == "" {
		return result, false
	}
	if !call.Images {
		return agent.Failure("read_file: %s is an image (%s), and this model does not accept images. Inspect it with bash, or ask the user what it shows.", path, kind), true
	}
	data, err := io.ReadAll(io.LimitReader(file, api.MaxImageBytes+1))
	if err != nil {
		return agent.Failure("read_file: reading %s: %v.", path, err), true
	}
	image, err := picture.Check(data)
	if err != nil {
		return agent.Failure("read_file: the image %s %v.", path, err), true
	}
	t.near(call.Cwd, full)
	return agent.Result{Content: session.Content{
		session.Text(fmt.Sprintf("%s, %d x %d pixels, %d bytes.", image.MimeType, image.Width, image.Height, image.Size)), image,
	}}, true
}

// boundImages keeps the first images of a result up to the limits on number and total size,
// and replaces the others with a note.
func boundImages(content session.Content) session.Content {
	images, size := 0, 0
	for i, block := range content {
		if block.Type != session.BlockImage {
			continue
		}
		if images, size = images+1, size+block.Size; images > api.MaxImages || size > api.MaxImagesBytes {
			content = slices.Clone(content)
			content[i] = session.Text("[One more image was left out: the result has too many.]")
		}
	}
	return content
}
