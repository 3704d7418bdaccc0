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

// lockFile opens a file, read-only if necessary, and locks it. A migration replaces the file,
// so lockFile checks that the path still names the locked file.
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
	return nil, false, fmt.Errorf("%s: its file keeps being replaced: %w", what, store.ErrInUse)
}

func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

// writeOwner records who has the file, for the error message of others. The lock does not
// depend on it, so a full disk prevents nothing.
func writeOwner(path string) {
	record, err := json.Marshal(store.ThisProcess())
	if err == nil {
		_ = os.WriteFile(path+endingOwner, append(record, '\n'), 0o600)
	}
}

func removeOwner(path string) { _ = os.Remove(path + endingOwner) } // a stale record is overwritten

// readOwner returns the recorded holder; the zero Holder if there is none or it cannot be
// parsed.
func readOwner(path string) store.Holder {
	var owner store.Holder
	record, err := os.ReadFile(path + endingOwner)
	if err != nil || json.Unmarshal(record, &owner) != nil {
		return store.Holder{}
	}
	return owner
}
