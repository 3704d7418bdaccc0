//go:build !windows

package atomicfile

import (
	"errors"
	"os"
)

// syncDir makes the rename itself survive a power cut.
func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// syncRoot is syncDir for a folder that is held open.
func syncRoot(root *os.Root) error {
	folder, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
