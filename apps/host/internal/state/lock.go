package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("state: the lock is held by another process")

// Lock is an advisory lock on a file. It ends with the process at the latest; the
// file stays, because removing it would let two processes each hold "the" lock.
type Lock struct{ file *os.File }

// Acquire takes the lock at path without waiting; ErrLocked when it is held.
func Acquire(path string) (*Lock, error) {
	var file *os.File
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s is not open to this user: run scorel as the one that it belongs to, or name another folder with SCOREL_HOME", filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("state: taking the lock: %w", err)
	}
	if err := LockFile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Lock{file}, nil
}

// Release gives the lock back.
func (l *Lock) Release() error { return CloseLocked(l.file) }

// CloseLocked gives back the lock of a file and closes it. Closing alone would leave
// the lock with a process that is just being started: it shares our open files until
// its program runs.
func CloseLocked(file *os.File) error { return errors.Join(unlockFile(file), file.Close()) }
