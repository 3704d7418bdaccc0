//go:build unix

package queue

import (
	"errors"
	"syscall"
)

const canTryWrite = true

// tryWrite returns how many bytes a non-blocking socket accepted.
func tryWrite(fd uintptr, data []byte) int {
	for {
		n, err := syscall.Write(int(fd), data)
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0)
		}
	}
}
