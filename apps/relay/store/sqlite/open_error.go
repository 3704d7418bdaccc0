package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errDamaged is wrapped if the check of the pages found a fault.
var errDamaged = errors.New("the check of its pages failed")

// primary selects the primary code of an extended result code.
const primary = 0xff

// openError explains why the file cannot be used. Only a file that is certainly damaged is called
// so: people who move an intact store away lose all bindings.
func openError(path string, err error) error {
	if errors.Is(err, errDamaged) {
		return damaged(path, err)
	}
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	switch failed.Code() & primary {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(path, err)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return fmt.Errorf("sqlite: %s cannot be read or written (%w): free some space on its disk, then try again; if there is enough, check the disk", path, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("sqlite: %s cannot be opened for writing (%w): run this as the user of the relay, who needs the right to write the file, the files next to it and their folder", path, err)
	}
	return fmt.Errorf("sqlite: opening %s: %w", path, err)
}

func damaged(path string, err error) error {
	return fmt.Errorf("sqlite: %s is damaged (%w): restore it from a backup, or move it and the files next to it away, start with an empty store, and import an export with `scorel relay store import`", path, err)
}
