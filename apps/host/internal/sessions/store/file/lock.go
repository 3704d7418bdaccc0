package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// maxRaces bounds how often the file may be replaced while it is being locked.
const maxRaces = 10

// lockFile opens a file and locks it. Where it may only be read, it is opened for
// reading. A migration puts a new file in the old one's place, so what was locked
// must still be what the path names.
func (p *Provider) lockFile(id, path string) (f *os.File, readOnly bool, err error) {
	what := "opening session " + id
	for range maxRaces {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		readOnly := false
		if isReadOnly(err) {
			readOnly = true
			f, err = os.Open(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, fmt.Errorf("%s: %w", what, store.ErrNotFound)
		}
		if err != nil {
			return nil, false, explain(err, what)
		}
		switch err := state.LockFile(f); {
		case errors.Is(err, state.ErrLocked):
			return nil, false, errors.Join(&store.InUseError{ID: id, Holder: readOwner(path)}, f.Close())
		case err != nil:
			return nil, false, errors.Join(explain(err, what), f.Close())
		case isAt(f, path):
			return f, readOnly, nil
		}
		if err := state.CloseLocked(f); err != nil {
			return nil, false, explain(err, what)
		}
	}
	return nil, false, fmt.Errorf("%s: its file is replaced again and again: %w", what, store.ErrInUse)
}

func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

// writeOwner leaves a record of who has the file, for whoever is refused. The lock
// holds without it, so that a full disk does not keep anybody out.
func writeOwner(path string) {
	record, err := json.Marshal(store.ThisProcess())
	if err == nil {
		_ = os.WriteFile(path+endingOwner, append(record, '\n'), 0o600)
	}
}

func removeOwner(path string) { _ = os.Remove(path + endingOwner) } // a stale record is written over

// readOwner returns who left a record; the zero Holder where it does not read.
func readOwner(path string) store.Holder {
	var owner store.Holder
	record, err := os.ReadFile(path + endingOwner)
	if err != nil || json.Unmarshal(record, &owner) != nil {
		return store.Holder{}
	}
	return owner
}
