package pgpool

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of PostgreSQL that a person can do something about.
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

// Explainer says what errors of a database mean. The errors in it are kinds of the
// caller's, for errors.Is; one that is nil adds nothing.
type Explainer struct {
	Place string
	// Unreachable also says so: it follows the place, as in "cannot be reached".
	Unreachable error
	// ReadOnly is when the database takes no writes, or none of this user.
	ReadOnly error
	// Full is when the database's disk is full.
	Full error
	// NoTable is what to say of a database whose tables are not there: it follows the
	// place.
	NoTable string
}

// Explain keeps the cause, and errors that are not the database's as they are.
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
		return fmt.Errorf("the database %s %w: %w", e.Place, cmp.Or(e.Unreachable, errUnreachable), errors.Unwrap(lost))
	}
	return err
}

func (e Explainer) refusal(refused *pgconn.PgError, err error) error {
	var (
		what string // follows the place
		kind error
	)
	switch refused.Code {
	case codeWrongPassword, codeNotAuthorized:
		what = " refuses the login: check user and password"
	case codeNoDatabase:
		what = " does not exist: make it with createdb"
	case codeNoTable:
		what = " " + e.NoTable
	case codeTooMany:
		what = " has no connection left: raise its max_connections, or lower pool_max_conns in its address"
	case codeNoPrivilege:
		what, kind = " does not let this user do that: make the user its owner", e.ReadOnly
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
