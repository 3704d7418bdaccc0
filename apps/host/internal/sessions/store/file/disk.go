package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/diskerror"
)

// disk makes every step by which bytes reach the disk. Tests make steps fail, or end the
// process at one, with fault.
type disk struct {
	// fault is called before each step; it may be nil. An error is the result of the step,
	// which is then skipped. fault itself may perform a part of a write.
	fault func(s step) error
	// noSync skips syncs, to measure the rest of an append.
	noSync bool
}

// step is one step: "write" of data at an offset, "sync", "truncate", "rename" or "syncdir". f
// is nil if no file is open.
type step struct {
	name string
	f    *os.File
	data []byte
	at   int64
}

func (d disk) ask(s step) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(s)
}

func (d disk) writeAt(f *os.File, data []byte, at int64) error {
	if err := d.ask(step{"write", f, data, at}); err != nil {
		return err
	}
	_, err := f.WriteAt(data, at)
	return err
}

func (d disk) sync(f *os.File) error {
	if err := d.ask(step{name: "sync", f: f}); err != nil {
		return err
	}
	if d.noSync {
		return nil
	}
	return syncData(f)
}

func (d disk) truncate(f *os.File, size int64) error {
	if err := d.ask(step{name: "truncate", f: f, at: size}); err != nil {
		return err
	}
	return f.Truncate(size)
}

func (d disk) rename(from, to string) error {
	if err := d.ask(step{name: "rename"}); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (d disk) syncDir(path string) error {
	if err := d.ask(step{name: "syncdir"}); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	syncErr := f.Sync()
	if !renamesOpenFiles {
		syncErr = nil // Windows cannot sync a folder
	}
	return errors.Join(syncErr, f.Close())
}

// explain says what was being done, and for known errors of the system what a person can do.
func explain(err error, what string) error {
	switch {
	case err == nil:
		return nil
	case diskerror.IsFull(err):
		return fmt.Errorf("%s: %w (%w)", what, store.ErrFull, err)
	case isReadOnly(err):
		return fmt.Errorf("%s: %w (%w)", what, store.ErrReadOnly, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w (%w)", what, store.ErrNotFound, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || diskerror.IsReadOnly(err)
}
