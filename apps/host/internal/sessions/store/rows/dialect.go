package rows

import (
	"database/sql"
	"log/slog"
	"strconv"
	"strings"
)

// Class classifies an error of a database by what it means for the operation.
type Class int

const (
	// Refused: the server answered that it did not do it.
	Refused Class = iota
	// Duplicate: a row with that key exists.
	Duplicate
	// Again: the server rolled it back for its own reasons, such as a deadlock or its shutdown;
	// a retry may succeed at once.
	Again
	// Unreachable: no connection could be made, so nothing was done.
	Unreachable
	// Cut: the connection ended, and the operation may or may not have been done.
	Cut
)

// Dialect describes the differences between databases. All fields are required.
type Dialect struct {
	Name  string // of the provider
	Place string // names the database for people, without secrets

	Numbered bool // parameters are $1, $2 ...; otherwise ?

	// TryLock takes the lock whose key is its only parameter for the connection, and returns 1
	// on success. Unlock releases it. Setup prepares the connection that holds the locks;
	// statements that the server does not support are ignored.
	TryLock, Unlock string
	Setup           []string
	LockKey         func(id string) any

	MaxLine  int   // the longest supported line, in bytes
	TooLarge error // says so

	// ClassOf classifies errors; Explain describes them for people and wraps the matching
	// errors of package store.
	ClassOf func(error) Class
	Explain func(error) error
}

// sql writes the parameters of a statement in the style of the database.
func (d *Dialect) sql(statement string) string {
	if !d.Numbered {
		return statement
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}

// Databases are the connections to one database.
type Databases struct {
	Pool  *sql.DB
	Locks *sql.DB // makes the one connection that holds the locks
	// Close closes both; the provider calls it last.
	Close  func() error
	Logger *slog.Logger
}
