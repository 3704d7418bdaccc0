package rows

import (
	"database/sql"
	"log/slog"
	"strconv"
	"strings"
)

// Class is what an error of a database means for what was to be done.
type Class int

const (
	// Refused: the server answered that it did not do it.
	Refused Class = iota
	// Duplicate: a row of that key is there.
	Duplicate
	// Again: the server undid it for a reason of its own, such as a deadlock or its
	// shutdown; the same may succeed at once.
	Again
	// Unreachable: no connection could be made, so nothing was done.
	Unreachable
	// Cut: the connection ended, and what it was doing may be done or not.
	Cut
)

// Dialect is what differs between databases. All its fields are required.
type Dialect struct {
	Name  string // of the provider
	Place string // names the database for people, without any secret

	Numbered bool // parameters are $1, $2 ...; else they are ?

	// TryLock takes the lock of the key that is its one parameter for the connection,
	// and answers 1 if it has it now. Unlock gives it back. Setup prepares the
	// connection that holds the locks; what the server does not know is passed over.
	TryLock, Unlock string
	Setup           []string
	LockKey         func(id string) any

	MaxLine  int   // the longest line that it takes, in bytes
	TooLarge error // says so

	// ClassOf tells errors apart; Explain makes them sentences, and wraps the
	// errors of package store where they are meant.
	ClassOf func(error) Class
	Explain func(error) error
}

// sql writes the parameters of a statement as the database reads them.
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

// Databases are the ways to one database.
type Databases struct {
	Pool  *sql.DB
	Locks *sql.DB // makes the one connection that holds the locks
	// Close ends both; the provider calls it last.
	Close  func() error
	Logger *slog.Logger
}
