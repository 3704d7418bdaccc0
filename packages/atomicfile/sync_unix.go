//go:build !windows

package atomicfile

import (
	"errors"
	"os"
)

// syncDir makes the rename itself survive a power failure.
func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// syncRoot is syncDir for an open folder.
func syncRoot(root *os.Root) error {
	folder, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
