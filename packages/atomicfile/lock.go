package atomicfile

import (
	"errors"
	"fmt"
	"os"
)

// Lock waits until no other process holds the lock of a path, and holds it until unlock is
// called. It is for files that are read, changed and written again. The lock is a file of its
// own beside path, which stays: path itself is replaced by every Write.
func Lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("atomicfile: opening the lock of %s: %w", path, err)
	}
	if err := lock(file); err != nil {
		return nil, errors.Join(fmt.Errorf("atomicfile: locking %s: %w", path, err), file.Close())
	}
	return file.Close, nil // closing unlocks
}
