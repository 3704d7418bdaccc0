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

// Option changes how Write treats an existing file.
type Option func(*options)

type options struct {
	keepMode      bool
	followSymlink bool
}

// KeepMode gives the new file the permission bits of the file it replaces.
func KeepMode() Option { return func(o *options) { o.keepMode = true } }

// FollowSymlink writes to the file that a symbolic link points to and keeps the
// link. Without it the link itself is replaced by a file.
func FollowSymlink() Option { return func(o *options) { o.followSymlink = true } }

// Write writes data to path. A new file gets perm, less the umask, as with
// os.WriteFile. The folder must exist.
func Write(path string, data []byte, perm fs.FileMode, opts ...Option) error {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	target := path
	if o.followSymlink {
		resolved, err := resolve(path)
		if err != nil {
			return err
		}
		target = resolved
	}
	var keep *fs.FileMode
	if o.keepMode {
		if info, err := os.Stat(target); err == nil {
			mode := info.Mode().Perm()
			keep = &mode
		}
	}
	return replace(target, data, perm, keep)
}

// maxLinks limits the length of a chain of links, which may be a cycle.
const maxLinks = 32

// resolve follows links at the last element, even to a file that does not exist.
func resolve(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", fmt.Errorf("atomicfile: examining %s: %w", path, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", fmt.Errorf("atomicfile: reading the link %s: %w", path, err)
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("atomicfile: %s cannot be resolved: too many symbolic links", path)
}

func replace(target string, data []byte, perm fs.FileMode, keep *fs.FileMode) (err error) {
	temp := filepath.Join(filepath.Dir(target), ".tmp-"+rand.Text())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("atomicfile: writing %s: %w", target, err), discard(temp))
		}
	}()
	if err := create(temp, data, perm, keep); err != nil {
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(target))
}

func create(path string, data []byte, perm fs.FileMode, keep *fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && keep != nil {
		err = file.Chmod(*keep)
	}
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
