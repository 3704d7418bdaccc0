package file

import (
	"errors"
	"os"
	"syscall"
)

// syncData puts the bytes on disk, and of the file's own data only what is needed
// to read them back: fdatasync spares the journal the times.
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
