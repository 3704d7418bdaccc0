package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// readImages reads the image files of a prompt; "-" is standard input. The host checks
// their content.
func (a *app) readImages(prompt string, names []string) ([][]byte, error) {
	stdin := len(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != "-" }))
	switch {
	case len(names) > api.MaxImages:
		return nil, usagef("%d images are too many for one prompt: the limit is %d", len(names), api.MaxImages)
	case stdin > 1 || stdin == 1 && prompt == "-":
		return nil, usagef("standard input can be read only once: give either the prompt or one image as \"-\"")
	}
	var images [][]byte
	all := 0
	for _, name := range names {
		data, err := a.readImage(name)
		if err != nil {
			return nil, err
		}
		if all += len(data); all > api.MaxImagesBytes {
			return nil, usagef("the images together are larger than the limit of %d bytes: send some of them with another prompt", api.MaxImagesBytes)
		}
		images = append(images, data)
	}
	return images, nil
}

func (a *app) readImage(name string) ([]byte, error) {
	shown, source := name, a.stdin
	if name == "-" {
		shown = "the image from standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, usagef("--image %s cannot be read (%v): give the path of an image file", name, reason(err))
		}
		defer file.Close()
		source = file
	}
	data, err := io.ReadAll(io.LimitReader(source, api.MaxImageBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", shown, err)
	case len(data) == 0:
		return nil, usagef("%s is empty: give an image file", shown)
	case len(data) > api.MaxImageBytes:
		return nil, usagef("%s is larger than the limit of %d bytes: make the image smaller", shown, api.MaxImageBytes)
	}
	return data, nil
}
