package updater

import (
	"errors"
	"io/fs"
	"os"
)

// exchange renames the running program to old and fresh to path. Between the two there is no
// program at path; if the second fails, the first is undone.
func exchange(path, fresh, old string) error {
	if err := clearAway(old); err != nil {
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

// clearAway frees the name of a program. A host that was started before the last update may still
// run it: such a program can be renamed, but not removed, and removeStale does that later.
func clearAway(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if renamed := os.Rename(path, beside(path[:len(path)-len(OldSuffix)])); renamed != nil {
		return errors.Join(err, renamed)
	}
	return nil
}
