//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

func lock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
