//go:build unix

package file

import (
	"errors"
	"io/fs"
	"syscall"
)

// renamesOpenFiles: a rename may replace an open file.
const renamesOpenFiles = true

// isFull reports whether the system had no space for the bytes: on the disk, in the user's
// quota, or in one file.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
