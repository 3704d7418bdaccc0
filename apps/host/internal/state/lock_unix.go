//go:build unix

package state

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// LockFile locks an open file for this process until CloseLocked.
func LockFile(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("state: locking %s: %w", file.Name(), err)
	}
	return nil
}

func unlockFile(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_UN); err != nil {
		return fmt.Errorf("state: unlocking %s: %w", file.Name(), err)
	}
	return nil
}
