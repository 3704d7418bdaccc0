package updater

import (
	"errors"
	"io/fs"
	"os"
)

// exchange renames the running program to old and fresh to path. Between the two there is no
// program at path; if the second fails, the first is undone.
func exchange(path, fresh, old string) error {
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(path, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return errors.Join(err, os.Rename(old, path))
	}
	return nil
}
