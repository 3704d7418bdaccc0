// Package storeurl opens the store that a URL names:
//
//	postgres://user:password@host:5432/database   PostgreSQL, for any number of nodes
//	sqlite:/var/lib/scorel/relay.db               one SQLite file
//
// A URL may contain a password, so it is a secret: Place is what may be shown.
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

// EnvVar is the environment variable with the URL for programs started without one.
// Unlike an argument, it is not visible in the list of processes.
const EnvVar = "SCOREL_RELAY_STORE"

// ErrURL is wrapped if a URL does not name a kind of store.
var ErrURL = errors.New("the store's URL is invalid")

// sqlitePrefix is followed by a path in the system's form.
const sqlitePrefix = "sqlite:"

// Archive is an open store.
type Archive struct {
	store.Archive
	Place string // its name for people, without any secret
}

// SQLite returns the URL of the store in a file.
func SQLite(path string) string { return sqlitePrefix + path }

// File returns the path of the SQLite file that a URL names; false for other stores.
func File(url string) (path string, ok bool) { return strings.CutPrefix(url, sqlitePrefix) }

// Check returns what is wrong with a URL, as far as that can be seen without
// opening it.
func Check(url string) error {
	if path, ok := strings.CutPrefix(url, sqlitePrefix); ok && path != "" || isPostgres(url) {
		return nil
	}
	// The argument may be a URL with a password and a typing error, so it is not
	// repeated.
	return fmt.Errorf("%w: use postgres://user:password@host:5432/database or sqlite:relay.db", ErrURL)
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// MakeFolder creates the folder of the file of a store, for its owner only.
func MakeFolder(path string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if at := new(fs.PathError); errors.As(err, &at) {
		return fmt.Errorf("the folder %s of the store cannot be created (%w): choose another with --store or --data-dir", filepath.Dir(path), at.Err)
	}
	return err
}

// Open opens a store and migrates its schema. A SQLite file is created, and its
// folder with mode 0700, if it does not exist.
func Open(ctx context.Context, url string) (Archive, error) {
	if err := Check(url); err != nil {
		return Archive{}, err
	}
	if isPostgres(url) {
		return opened(postgres.Open(ctx, url))
	}
	path := strings.TrimPrefix(url, sqlitePrefix)
	if err := MakeFolder(path); err != nil {
		return Archive{}, err
	}
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return Archive{}, err
	}
	return Archive{db, path}, nil
}

// Connect opens an existing store and leaves its schema unchanged.
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

// missingError is the error for a missing store.
type missingError struct {
	path  string
	cause error
}

func (e *missingError) Error() string {
	return fmt.Sprintf("there is no store %s: choose the relay's store with --store or --data-dir, or create it with `scorel relay store migrate`", e.path)
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
