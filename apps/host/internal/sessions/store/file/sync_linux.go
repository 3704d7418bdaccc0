package file

import (
	"errors"
	"os"
	"syscall"
)

// syncData writes the bytes to disk, with only the metadata needed to read them back: fdatasync
// omits the timestamps.
func syncData(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = raw.Control(func(fd uintptr) {
		for {
			if syncErr = syscall.Fdatasync(int(fd)); !errors.Is(syncErr, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, syncErr)
}
