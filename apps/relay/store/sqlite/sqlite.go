// Package sqlite keeps a relay's durable state in one SQLite file. It is the
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

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/internal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// maxConns bounds the connections to the file: when thousands of peers log in at
// once they queue for these instead of opening the file thousands of times.
const maxConns = 8

// DB is a store.Archive in one file.
type DB struct {
	*sqlstore.Store
	db     *sql.DB
	schema sqlstore.Schema
}

var _ store.Archive = (*DB)(nil)

// Open opens or makes the file and brings its schema up to date.
func Open(ctx context.Context, path string) (*DB, error) {
	if err := reserve(path); err != nil {
		return nil, err
	}
	db, err := Connect(path)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		_ = db.Close() // the first error is the one to tell
		return nil, fmt.Errorf("sqlite: preparing %s: %w", path, err)
	}
	return db, nil
}

// Connect opens a file that is there and leaves its schema as it is.
func Connect(path string) (*DB, error) {
	options := url.Values{
		"mode":    {"rw"}, // only Open makes the file
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
		_ = db.Close() // the first error is the one to tell
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	return d, nil
}

// reserve makes the file before SQLite does, which would let others read who may
// reach whom. The write-ahead log gets the mode of the file.
func reserve(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	return file.Close()
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
