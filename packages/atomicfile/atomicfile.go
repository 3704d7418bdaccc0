// Package atomicfile writes whole files so that a reader, and a machine that
// loses power, sees the old content or the new and nothing between.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the file at path, or makes it, with the given permissions. The
// data is on disk when it returns.
func Write(path string, data []byte, perm fs.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(fmt.Errorf("replacing %s: %w", path, err), os.Remove(temp))
	}
	return syncDir(filepath.Dir(path))
}

// Create is Write for a file that must not exist yet; otherwise it fails with
// fs.ErrExist and changes nothing.
func Create(path string, data []byte, perm fs.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	// A hard link, unlike a rename, fails when the name is taken.
	linkErr := os.Link(temp, path)
	if err := os.Remove(temp); err != nil {
		return fmt.Errorf("removing the temporary file for %s: %w", path, err)
	}
	if linkErr != nil {
		return fmt.Errorf("creating %s: %w", path, linkErr)
	}
	return syncDir(filepath.Dir(path))
}

// writeTemp writes data to a new file beside path, so that a rename stays on one
// file system.
func writeTemp(path string, data []byte, perm fs.FileMode) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(f.Name()))
		}
	}()
	_, writeErr := f.Write(data)
	var modeErr error
	if runtime.GOOS != "windows" {
		modeErr = f.Chmod(perm)
	}
	return f.Name(), errors.Join(writeErr, modeErr, f.Sync(), f.Close())
}

// syncDir makes the new name durable. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}
