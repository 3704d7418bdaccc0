// Package sqlite stores a relay's durable state in one SQLite file. It is the
// default store: one node, no server to run.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/internal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// maxConns limits the connections to the file: when thousands of peers log in at
// once they queue for these instead of opening the file thousands of times.
const maxConns = 8

// DB is a store.Archive in one file.
type DB struct {
	*sqlstore.Store
	db     *sql.DB
	schema sqlstore.Schema
}

var _ store.Archive = (*DB)(nil)

// Open opens or creates the file and migrates its schema.
func Open(ctx context.Context, path string) (*DB, error) {
	if err := reserve(path); err != nil {
		return nil, err
	}
	db, err := Connect(path)
	if err != nil {
		return nil, err
	}
	if err := db.intact(ctx); err != nil {
		_ = db.Close() // the first error is returned
		return nil, openError(path, err)
	}
	if err := db.Migrate(ctx); err != nil {
		_ = db.Close() // the first error is returned
		return nil, openError(path, fmt.Errorf("preparing its tables: %w", err))
	}
	if err := db.writable(ctx); err != nil {
		_ = db.Close() // the first error is returned
		return nil, openError(path, fmt.Errorf("trying to write: %w", err))
	}
	return db, nil
}

// writable fails if the file can only be read, which SQLite reports at the first write. It changes
// nothing.
func (d *DB) writable(ctx context.Context) error {
	_, err := d.db.ExecContext(ctx, "DELETE FROM goose_db_version WHERE 0")
	return err
}

// Connect opens an existing file and leaves its schema unchanged.
func Connect(path string) (*DB, error) {
	options := url.Values{
		"mode":    {"rw"}, // only Open creates the file
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		// A transaction that reads and then writes must take the write lock at
		// once: upgrading later fails with SQLITE_BUSY whatever the timeout.
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	d := &DB{Store: sqlstore.New(adapter{db}, "sqlite"), db: db}
	if d.schema, err = newSchema(db); err != nil {
		_ = db.Close() // the first error is returned
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	return d, nil
}

// intact checks every page of the file. Otherwise a truncated one would be served
// until a missing page is read, and a binding that has ended could be in force
// again.
func (d *DB) intact(ctx context.Context) error {
	rows, err := d.db.QueryContext(ctx, "PRAGMA quick_check(1)")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var found string
		if err := rows.Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			return fmt.Errorf("%w: %s", errDamaged, strings.ReplaceAll(found, "\n", " "))
		}
	}
	return rows.Err()
}

// pageUnit divides the size of every page, and so of every file.
const pageUnit = 512

// cutOff reports whether an existing file cannot be a complete store. SQLite treats
// less than a page as an empty store, and the rest of the last page as zeros. What
// a crash left of a checkpoint is completed from the write-ahead log.
func cutOff(path string, size int64) bool {
	wal, err := os.Stat(path + "-wal")
	return (err != nil || wal.Size() == 0) && (size == 0 || size%pageUnit != 0)
}

// reserve creates the file before SQLite does, which would let other users read who
// may reach whom. The write-ahead log gets the mode of the file.
func reserve(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return file.Close()
	}
	info, statErr := os.Stat(path)
	switch {
	case statErr != nil:
		return fmt.Errorf("sqlite: opening %s: %w", path, err)
	case info.Mode().IsRegular() && cutOff(path, info.Size()):
		return fmt.Errorf("sqlite: %s is damaged: it ends after %d bytes. Restore it from a backup, or delete it and the files next to it to start with an empty store", path, info.Size())
	}
	return nil // opening it reports any other problem
}

func newSchema(db *sql.DB) (sqlstore.Schema, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return sqlstore.Schema{}, err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, dir)
	if err != nil {
		return sqlstore.Schema{}, err
	}
	return sqlstore.Schema{
		Provider: provider,
		Exists:   sqlstore.Statement{SQL: `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'`},
		Versions: "goose_db_version",
	}, nil
}

// Migrate implements store.Archive.
func (d *DB) Migrate(ctx context.Context) error { return d.schema.Up(ctx, adapter{d.db}) }

// Schema implements store.Archive.
func (d *DB) Schema(ctx context.Context) (have, need int64, err error) {
	have, err = d.schema.Have(ctx, adapter{d.db})
	return have, d.schema.Need(), err
}

// Close implements store.Store.
func (d *DB) Close() error { return d.db.Close() }
