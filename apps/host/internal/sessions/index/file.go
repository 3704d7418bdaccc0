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

// schemaVersion is raised whenever the tables, or what is put into them, change. An
// index of another version is built anew.
const schemaVersion = 4

//go:embed schema.sql
var schema string

// maxConns bounds the connections to the file: one writes, the others search.
const maxConns = 4

// endings of the files that SQLite keeps.
func endings() []string { return []string{"", "-wal", "-shm"} }

// errStale says that the file is of another version.
var errStale = errors.New("it is of another version")

// openOrRenew opens the file. What is stale is deleted, what is corrupt put aside,
// and an empty index made in its place.
func openOrRenew(ctx context.Context, path string, logger *slog.Logger) (*sql.DB, error) {
	db, err := openFile(ctx, path)
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, errStale):
		logger.Info("the session index is of another version and is built anew", "file", path)
		err = deleteFiles(path)
	case isCorrupt(err):
		logger.Warn("the session index is corrupt; it is put aside and built anew", "file", path, "aside", path+brokenEnding, "error", err)
		err = putAside(path)
	}
	if err != nil {
		return nil, err
	}
	return openFile(ctx, path)
}

func openFile(ctx context.Context, path string) (*sql.DB, error) {
	// SQLite would make a file that others may read; the log beside gets its mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	options := url.Values{
		"mode": {"rw"},
		// After a crash the last transactions may be missing, which is found as stale.
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
		_ = db.Close() // the first error is the one to tell
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return db, nil
}

// prepare makes the tables of a new file, and looks whether those of an old one are
// the right ones and can be read.
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

// isCorrupt tells whether an error says that the file is not a sound database.
func isCorrupt(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff // the rest of the code says where it was found
	return primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB
}

const brokenEnding = ".broken"

// putAside keeps a corrupt file for who wants to look at it; one of before goes.
func putAside(path string) error {
	for _, ending := range endings() {
		err := os.Rename(path+ending, path+brokenEnding+ending)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("putting a corrupt index aside: %w", err)
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
