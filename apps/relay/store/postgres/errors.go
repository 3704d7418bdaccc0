package postgres

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scorel/scorel/apps/relay/store"
)

// errAddress names no part of the address: it could be one of the password.
var errAddress = errors.New("the store's address cannot be read: give it as in postgres://user:password@host:5432/database, with other characters than letters and digits of the password percent-encoded")

// Codes of PostgreSQL that a person can do something about.
const (
	codeWrongPassword = "28P01"
	codeNotAuthorized = "28000"
	codeNoDatabase    = "3D000"
	codeNoPrivilege   = "42501"
	codeNoTable       = "42P01"
	codeTooMany       = "53300"
	codeReadOnly      = "25006"
)

// place is "database on host:port".
func place(cfg *pgxpool.Config) string {
	c := cfg.ConnConfig
	where := c.Host
	if !strings.HasPrefix(c.Host, "/") { // a Unix socket has no port that says anything
		where = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("%s on %s", c.Database, where)
}

// explain says what an error of the database means. It keeps the cause, and the
// errors of the store as they are.
func explain(place string, err error) error {
	var (
		refused *pgconn.PgError
		lost    *pgconn.ConnectError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return explainRefusal(place, refused, err)
	case errors.As(err, &lost):
		return fmt.Errorf("the database %s %w: %w", place, store.ErrUnreachable, errors.Unwrap(lost))
	}
	return err
}

func explainRefusal(place string, refused *pgconn.PgError, err error) error {
	what := ""
	switch refused.Code {
	case codeWrongPassword, codeNotAuthorized:
		what = "refuses the login: check user and password"
	case codeNoDatabase:
		what = "does not exist: make it with createdb"
	case codeNoPrivilege:
		what = "does not let this user do that: make the user its owner"
	case codeNoTable:
		what = "has no tables of a relay: run `scorel relay store migrate`"
	case codeTooMany:
		what = "has no connection left: raise its max_connections, or lower pool_max_conns in the store's address"
	case codeReadOnly:
		what = "is read-only: use the address of its primary"
	default:
		return err
	}
	return fmt.Errorf("the database %s %s: %w", place, what, refused)
}
