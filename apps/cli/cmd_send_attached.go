package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/protocol/api"
)

// attached is what goes with a prompt besides its text.
type attached struct {
	images [][]byte      // the host checks their content
	files  []follow.File // that the host stores
}

// readAttached reads the images and files of a prompt. "-" is standard input, which is read once.
func readAttached(ctx context.Context, stdin io.Reader, prompt string, f sendFlags) (attached, error) {
	onInput := 0
	for _, name := range append(append([]string{prompt}, f.images...), f.files...) {
		if name == "-" {
			onInput++
		}
	}
	switch {
	case onInput > 1:
		return attached{}, usagef("standard input can be read only once: give either the prompt or one image or file as \"-\"")
	case len(f.images) > api.MaxImages:
		return attached{}, usagef("%d images are too many for one prompt: the limit is %d", len(f.images), api.MaxImages)
	case len(f.files) > api.MaxFiles:
		return attached{}, usagef("%d files are too many for one prompt: the limit is %d", len(f.files), api.MaxFiles)
	}
	var (
		with attached
		err  error
	)
	if with.images, err = readImages(ctx, stdin, f.images); err == nil {
		with.files, err = readFiles(ctx, stdin, f.files)
	}
	return with, err
}

func readImages(ctx context.Context, stdin io.Reader, names []string) (images [][]byte, err error) {
	all := 0
	for _, name := range names {
		data, err := readWhole(ctx, stdin, "image", name, api.MaxImageBytes, "make the image smaller")
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

func readFiles(ctx context.Context, stdin io.Reader, names []string) (files []follow.File, err error) {
	all := 0
	for _, name := range names {
		data, err := readWhole(ctx, stdin, "file", name, api.MaxFileBytes, "copy it to the project's folder and name it in the prompt")
		if err != nil {
			return nil, err
		}
		if all += len(data); all > api.MaxFilesBytes {
			return nil, usagef("the files together are larger than the limit of %d bytes: send some of them with another prompt", api.MaxFilesBytes)
		}
		shown := filepath.Base(name)
		if name == "-" {
			shown = "standard input"
		}
		files = append(files, follow.File{Name: follow.FileName(shown), Data: data})
	}
	return files, nil
}

// readWhole reads what --image or --file names; "-" is standard input.
func readWhole(ctx context.Context, stdin io.Reader, what, name string, limit int, instead string) ([]byte, error) {
	shown, source := name, stdin
	if name == "-" {
		shown = "the " + what + " from standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, usagef("--%s %s cannot be read (%v): give the path of a file", what, name, reason(err))
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return nil, usagef("--%s %s is a folder: give the path of a file", what, name)
		}
		source = file
	}
	data, err := terminal.ReadUpTo(ctx, source, limit)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", shown, err)
	case len(data) == 0:
		return nil, usagef("%s is empty: give another file", shown)
	case len(data) > limit:
		return nil, usagef("%s is larger than the limit of %d bytes: %s", shown, limit, instead)
	}
	return data, nil
}
