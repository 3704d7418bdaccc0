package tool

import (
	"errors"
	"os"
	"syscall"
)

// noLinks is O_NOFOLLOW_ANY: no element of the path may be a link.
const noLinks = 0x20000000

// openUnlinked opens a path without links; errMoved means that an element is a link. It
// does not wait for the other end of a pipe.
func openUnlinked(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock|noLinks, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errMoved
	}
	return file, err
}

// ofKernel reports whether a file belongs to the kernel. There are no such files here.
func ofKernel(*os.File) bool { return false }
