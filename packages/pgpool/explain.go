package pgpool

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// PostgreSQL error codes that a person can act on.
const (
	codeWrongPassword = "28P01"
	codeNotAuthorized = "28000"
	codeNoDatabase    = "3D000"
	codeNoPrivilege   = "42501"
	codeNoTable       = "42P01"
	codeTooMany       = "53300"
	codeDiskFull      = "53100"
	codeReadOnly      = "25006"
)

var errUnreachable = errors.New("cannot be reached")

// Explainer explains the errors of a database. Its error fields are kinds of the
// caller's, for errors.Is; a nil field adds nothing.
type Explainer struct {
	Place string
	// Unreachable is also the phrase after the place, as in "cannot be reached".
	Unreachable error
	// ReadOnly is for a database that accepts no writes, or none from this user.
	ReadOnly error
	// Full is for a full disk of the database.
	Full error
	// NoTable is the phrase for a database without the tables: it follows the
	// place.
	NoTable string
}

// Explain keeps the cause, and returns errors that are not the database's
// unchanged.
func (e Explainer) Explain(err error) error {
	var (
		refused *pgconn.PgError
		lost    *pgconn.ConnectError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return e.refusal(refused, err)
	case errors.As(err, &lost):
		kind := cmp.Or(e.Unreachable, errUnreachable)
		return &unreachable{fmt.Sprintf("the database %s %v (%v): is it running, and is its address right?", e.Place, kind, rootCause(lost)), []error{kind, lost}}
	}
	return err
}

// unreachable is an error without the operations and addresses that led to it.
type unreachable struct {
	text   string
	causes []error
}

func (u *unreachable) Error() string   { return u.text }
func (u *unreachable) Unwrap() []error { return u.causes }

// rootCause returns the error of the system, if it is one.
func rootCause(lost *pgconn.ConnectError) error {
	if number := syscall.Errno(0); errors.As(lost, &number) {
		return number
	}
	return lost.Unwrap()
}

func (e Explainer) refusal(refused *pgconn.PgError, err error) error {
	var (
		what string // follows the place
		kind error
	)
	switch refused.Code {
	case codeWrongPassword, codeNotAuthorized:
		what = " rejects the login: check the user and password"
	case codeNoDatabase:
		what = " does not exist: create it with createdb"
	case codeNoTable:
		what = " " + e.NoTable
	case codeTooMany:
		what = " has no free connections: raise its max_connections, or lower pool_max_conns in its address"
	case codeNoPrivilege:
		what, kind = " does not allow this user to do that: make this user its owner", e.ReadOnly
	case codeReadOnly:
		what, kind = " is read-only: use the address of its primary", e.ReadOnly
	case codeDiskFull:
		kind = e.Full
	}
	switch {
	case kind != nil:
		return fmt.Errorf("the database %s%s: %w (%w)", e.Place, what, kind, refused)
	case what != "":
		return fmt.Errorf("the database %s%s: %w", e.Place, what, refused)
	}
	return err
}
