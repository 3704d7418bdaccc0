package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create is Write for a file that must not exist yet; otherwise it fails with
// fs.ErrExist and changes nothing. Of several concurrent calls, one wins.
func Create(path string, data []byte, perm fs.FileMode) error {
	temp := filepath.Join(filepath.Dir(path), ".tmp-"+rand.Text())
	if err := create(temp, data, perm); err != nil {
		return errors.Join(fmt.Errorf("atomicfile: writing %s: %w", path, err), discard(temp))
	}
	// Unlike a rename, a hard link fails if the name exists.
	linkErr := os.Link(temp, path)
	if err := errors.Join(linkErr, discard(temp)); err != nil {
		return fmt.Errorf("atomicfile: creating %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}
