//go:build !linux && !darwin

package tool

import (
	"errors"
	"os"
)

// openUnlinked opens a path without links; errMoved means that an element is a link. It
// does not wait for the other end of a pipe. The path is checked before and after, because
// the system cannot do it atomically.
func openUnlinked(path string) (*os.File, error) {
	if resolved(path) != path {
		return nil, errMoved
	}
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	there, thereErr := os.Lstat(path)
	if err != nil || thereErr != nil || !os.SameFile(opened, there) || resolved(path) != path {
		return nil, errors.Join(errMoved, file.Close())
	}
	return file, nil
}

// ofKernel reports whether a file belongs to the kernel. There are no such files here.
func ofKernel(*os.File) bool { return false }
