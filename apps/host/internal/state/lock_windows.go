package state

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// LockFile locks an open file for this process until CloseLocked. The locked byte is far
// beyond the end, so that the content can still be read.
func LockFile(file *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := &windows.Overlapped{OffsetHigh: 0x7fffffff}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("state: locking %s: %w", file.Name(), err)
	}
	return nil
}

// unlockFile does nothing: on Windows no other process shares our open files.
func unlockFile(*os.File) error { return nil }
