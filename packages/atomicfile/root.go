package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// WriteIn is Write for a file directly in an open folder: even if the path of the
// folder changes in the meantime, the file is created in that folder. A link with
// that name is replaced by the file; the mode of an existing file is kept.
func WriteIn(root *os.Root, name string, data []byte, perm fs.FileMode) (err error) {
	temp := ".tmp-" + rand.Text()
	defer func() {
		if err == nil {
			return
		}
		err = fmt.Errorf("atomicfile: writing %s: %w", name, err)
		if gone := root.Remove(temp); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if info, statErr := root.Lstat(name); err == nil && statErr == nil && info.Mode().IsRegular() {
		err = file.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		return err
	}
	return syncRoot(root)
}
