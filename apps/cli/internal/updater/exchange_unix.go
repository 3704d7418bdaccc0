//go:build unix

package updater

import (
	"errors"
	"os"
	"path/filepath"
)

// exchange keeps the program at path as old, and then puts fresh in its place. A rename
// replaces its target in one step, so neither name is ever without a program.
func exchange(path, fresh, old string) error {
	link := beside(path)
	if err := os.Link(path, link); err != nil {
		return err
	}
	if err := os.Rename(link, old); err != nil {
		return errors.Join(err, os.Remove(link))
	}
	_ = os.Remove(link) // a rename onto another name of the same file does nothing
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
