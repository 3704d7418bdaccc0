package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrLocked reports that another process holds the lock.
var ErrLocked = errors.New("state: the lock is held by another process")

// Lock is an advisory lock on a file. It is released when the process ends at the latest.
// The file stays, because removing it would let two processes each hold "the" lock.
type Lock struct{ file *os.File }

// Acquire takes the lock at path without waiting. It returns ErrLocked if the lock is held.
func Acquire(path string) (*Lock, error) {
	var file *os.File
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("this user cannot access %s: run scorel as its owner, or choose another folder with SCOREL_HOME", filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("state: taking the lock: %w", err)
	}
	if err := LockFile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Lock{file}, nil
}

// lockEvery is the pause between two tries to take a lock, which has no way to wait.
const lockEvery = 20 * time.Millisecond

// AcquireBefore takes the lock at path, and waits for it until ctx ends. It returns ErrLocked if
// the lock is held until then. It tries at least once.
func AcquireBefore(ctx context.Context, path string) (*Lock, error) {
	ticker := time.NewTicker(lockEvery)
	defer ticker.Stop()
	for {
		lock, err := Acquire(path)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Release releases the lock.
func (l *Lock) Release() error { return CloseLocked(l.file) }

// CloseLocked releases the lock of a file and closes it. Closing alone would leave the lock
// with a process that is just being started, because it shares our open files until it
// executes its program.
func CloseLocked(file *os.File) error { return errors.Join(unlockFile(file), file.Close()) }
