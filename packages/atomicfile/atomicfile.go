// Package atomicfile replaces a file so that a reader, even after a power failure,
// sees either the old or the new content, never a mixture.
//
// The data is written to a temporary file in the same folder, synced and renamed to
// the final name; then the folder is synced. A failure leaves the old file
// unchanged and no temporary file behind.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes data to path. The file gets perm, less the umask, as with os.WriteFile for a new
// one. The folder must exist. A symbolic link at path is replaced, not followed.
func Write(path string, data []byte, perm fs.FileMode) (err error) {
	temp := filepath.Join(filepath.Dir(path), ".tmp-"+rand.Text())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("atomicfile: writing %s: %w", path, err), discard(temp))
		}
	}()
	if err := create(temp, data, perm); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func create(path string, data []byte, perm fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func discard(temp string) error {
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
