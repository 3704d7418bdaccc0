package schedule

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// localPath reports whether a path with slashes stays below where it begins.
func localPath(path string) bool { return filepath.IsLocal(filepath.FromSlash(path)) }

// openFolder opens a folder of a project. No part of the path below the project may be a
// symbolic link that leads out of it.
func openFolder(project, path string) (*os.Root, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(path))
}

// reason is the part of an error that a person needs.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}
