//go:build unix

package relay

import (
	"errors"
	"syscall"
)

const canTryWrite = true

// tryWrite returns how many bytes a socket that does not block took at once.
func tryWrite(fd uintptr, data []byte) int {
	for {
		n, err := syscall.Write(int(fd), data)
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0)
		}
	}
}
