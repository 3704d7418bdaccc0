package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// SyncDir makes changes of the names in a folder survive a power failure, such as renames and
// new files. Windows does so itself.
func SyncDir(dir string) error { return syncDir(dir) }

// SyncRoot is SyncDir for an open folder.
func SyncRoot(root *os.Root) error { return syncRoot(root) }

// MkdirAll is os.MkdirAll for folders that survive a power failure: the parent of each new one
// is synced.
func MkdirAll(path string, perm fs.FileMode) error {
	path = filepath.Clean(path)
	var parents []string // of folders that do not exist yet
	for at := path; ; at = filepath.Dir(at) {
		_, err := os.Lstat(at)
		if err == nil || filepath.Dir(at) == at {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		parents = append(parents, filepath.Dir(at))
	}
	if err := os.MkdirAll(path, perm); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := syncDir(parent); err != nil {
			return err
		}
	}
	return nil
}
