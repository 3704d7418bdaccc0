// Package storeurl opens the store that a URL names:
//
//	postgres://user:password@host:5432/database   PostgreSQL, for any number of nodes
//	sqlite:/var/lib/scorel/relay.db               one SQLite file
//
// A URL may hold a password, so it is a secret: Place is what may be shown.
package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/postgres"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
)

// EnvVar is where a program looks for the URL when it was given none. There it is
// not seen in the list of processes.
const EnvVar = "SCOREL_RELAY_STORE"

// ErrURL is wrapped when a URL names no kind of store.
var ErrURL = errors.New("the store is not named right")

// sqlitePrefix is followed by a path as the system writes it.
const sqlitePrefix = "sqlite:"

// Archive is an open store.
type Archive struct {
	store.Archive
	Place string // names it for people, without any secret
}

// SQLite returns the URL of the store in a file.
func SQLite(path string) string { return sqlitePrefix + path }

// Check tells what is wrong with a URL that can be seen without opening it.
func Check(url string) error {
	if path, ok := strings.CutPrefix(url, sqlitePrefix); ok && path != "" || isPostgres(url) {
		return nil
	}
	// What was given may be a URL with a password and a typing error: it is not
	// repeated.
	return fmt.Errorf("%w: give it as in postgres://user:password@host:5432/database or sqlite:relay.db", ErrURL)
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Open opens a store and brings its schema up to date. A SQLite file is made, and
// its folder with mode 0700, if it is not there.
func Open(ctx context.Context, url string) (Archive, error) {
	if err := Check(url); err != nil {
		return Archive{}, err
	}
	if isPostgres(url) {
		return opened(postgres.Open(ctx, url))
	}
	path := strings.TrimPrefix(url, sqlitePrefix)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Archive{}, fmt.Errorf("making the folder of the store, which --store or --data-dir names: %w", err)
	}
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return Archive{}, err
	}
	return Archive{db, path}, nil
}

// Connect opens a store that is there and leaves its schema as it is.
func Connect(ctx context.Context, url string) (Archive, error) {
	if err := Check(url); err != nil {
		return Archive{}, err
	}
	if isPostgres(url) {
		return opened(postgres.Connect(ctx, url))
	}
	path := strings.TrimPrefix(url, sqlitePrefix)
	if _, err := os.Stat(path); err != nil {
		return Archive{}, noStore(path, err)
	}
	db, err := sqlite.Connect(path)
	if err != nil {
		return Archive{}, err
	}
	return Archive{db, path}, nil
}

// missingError is a store that is not there, in words for who named it.
type missingError struct {
	path  string
	cause error
}

func (e *missingError) Error() string {
	return fmt.Sprintf("there is no store %s: name the relay's with --store or --data-dir", e.path)
}

func (e *missingError) Unwrap() error { return e.cause }

func noStore(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &missingError{path, err}
	}
	return fmt.Errorf("the store %s cannot be read: %w", path, err)
}

func opened(db *postgres.DB, err error) (Archive, error) {
	if err != nil {
		return Archive{}, err
	}
	return Archive{db, db.Place()}, nil
}
