package index

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// schemaVersion is raised whenever the tables or their contents change. An index of another
// version is rebuilt. A change that only affects new entries needs no new version: a row
// without it is correct until its session gets such an entry.
const schemaVersion = 4

//go:embed schema.sql
var schema string

// maxConns bounds the connections to the file: one writes, the others search.
const maxConns = 4

// File name extensions of the files that SQLite keeps.
func endings() []string { return []string{"", "-wal", "-shm"} }

// errStale means that the file has another version.
var errStale = errors.New("it has another version")

// openOrRenew opens the file. It deletes a stale index, sets a corrupt one aside, and creates
// an empty one in its place.
func openOrRenew(ctx context.Context, path string, logger *slog.Logger) (*sql.DB, error) {
	db, err := openFile(ctx, path)
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, errStale):
		logger.Info("the session index has another version and is rebuilt", "file", path)
		err = deleteFiles(path)
	case isCorrupt(err):
		logger.Warn("the session index is corrupt; it is set aside and rebuilt", "file", path, "aside", path+brokenEnding, "error", err)
		err = putAside(path)
	}
	if err != nil {
		return nil, err
	}
	return openFile(ctx, path)
}

func openFile(ctx context.Context, path string) (*sql.DB, error) {
	// SQLite would create a file that others may read; the write-ahead log gets the same mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	options := url.Values{
		"mode": {"rw"},
		// After a crash the last transactions may be missing; their sessions are then stale.
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-16384)"},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	if err := prepare(ctx, db); err != nil {
		_ = db.Close() // the first error is the one to return
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return db, nil
}

// prepare creates the tables of a new file, and checks whether those of an existing one have
// the right version and can be read.
func prepare(ctx context.Context, db *sql.DB) error {
	var version, tables int
	if err := db.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version`).Scan(&version, &tables); err != nil {
		return err
	}
	switch {
	case tables == 0:
		_, err := db.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE;\n%s\nPRAGMA user_version = %d;\nCOMMIT;", schema, schemaVersion))
		return err
	case version != schemaVersion:
		return errStale
	}
	var probe int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH '"a"' LIMIT 1)`).Scan(&probe)
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&probe)
	}
	return err
}

// isCorrupt reports whether an error means that the file is not a valid database.
func isCorrupt(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff // the other bits say where it was found
	return primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB
}

const brokenEnding = ".broken"

// putAside keeps a corrupt file for inspection, in place of an earlier one.
func putAside(path string) error {
	for _, ending := range endings() {
		err := os.Rename(path+ending, path+brokenEnding+ending)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("setting a corrupt index aside: %w", err)
		}
	}
	return nil
}

func deleteFiles(path string) error {
	for _, ending := range endings() {
		if err := os.Remove(path + ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("deleting a stale index: %w", err)
		}
	}
	return nil
}
