package file

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// renamesOpenFiles: on Windows a rename cannot replace an open file.
const renamesOpenFiles = false

// isFull reports whether the system had no space for the bytes.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, windows.ERROR_WRITE_PROTECT)
}

func syncData(f *os.File) error { return f.Sync() }
