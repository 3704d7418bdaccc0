// Package diskerror explains errors of the system that mean that a file cannot be written: a full
// disk, one that is mounted read-only, and missing rights.
package diskerror

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// IsFull reports whether the system had no space for the bytes: on the disk, in the user's quota,
// or in one file.
func IsFull(err error) bool { return isOneOf(err, full) }

// IsReadOnly reports whether the disk is mounted read-only.
func IsReadOnly(err error) bool { return isOneOf(err, readOnly) }

func isOneOf(err error, numbers []syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool { return errors.Is(err, n) })
}

// Explain says what a person can do about an error, in one sentence. It returns "" if the error has
// another reason.
func Explain(err error) string {
	path := pathOf(err)
	switch {
	case IsFull(err) && path == "":
		return "no space is left on the disk: free some, then try again"
	case IsFull(err):
		return fmt.Sprintf("no space is left in %s: free some, then try again", filepath.Dir(path))
	case IsReadOnly(err) && path == "":
		return "the disk is mounted read-only: mount it writable, then try again"
	case IsReadOnly(err):
		return fmt.Sprintf("the disk of %s is mounted read-only: mount it writable, then try again", filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission) && path != "":
		return fmt.Sprintf("%s may not be read or written (permission denied): check who owns it and its folder, then try again", path)
	}
	return ""
}

// pathOf returns the file that an error of the system is about, or "" if it is about none.
func pathOf(err error) string {
	var (
		file *fs.PathError
		link *os.LinkError
	)
	switch {
	case errors.As(err, &file):
		return file.Path
	case errors.As(err, &link):
		return link.New
	}
	return ""
}
