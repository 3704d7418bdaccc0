package postgres

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
)

// errAddress names no part of the address: it could be one of the password.
var errAddress = errors.New("the address of the session database cannot be read: give it as in postgres://user:password@host:5432/database, with other characters than letters and digits of the password percent-encoded")

// Codes of PostgreSQL.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeShutdown      = "57P01"
	codeCrash         = "57P02"
	codeStarting      = "57P03"
	codeIdle          = "57P05"

	codeWrongPassword = "28P01"
	codeNotAuthorized = "28000"
	codeNoDatabase    = "3D000"
	codeNoPrivilege   = "42501"
	codeNoTable       = "42P01"
	codeTooMany       = "53300"
	codeDiskFull      = "53100"
	codeReadOnly      = "25006"
)

func classOf(err error) rows.Class {
	var refused *pgconn.PgError
	switch {
	case errors.As(err, new(*pgconn.ConnectError)):
		return rows.Unreachable
	case errors.As(err, &refused):
		switch refused.Code {
		case codeUnique:
			return rows.Duplicate
		case codeSerialization, codeDeadlock, codeShutdown, codeCrash, codeStarting, codeIdle:
			return rows.Again
		}
		return rows.Refused
	case errors.Is(err, sql.ErrNoRows):
		return rows.Refused
	}
	return rows.Cut
}

// place is "database on host:port".
func place(cfg *pgxpool.Config) string {
	c := cfg.ConnConfig
	where := c.Host
	if !strings.HasPrefix(c.Host, "/") { // a Unix socket has no port that says anything
		where = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("%s on %s", c.Database, where)
}

// explain says what an error of the database means. It keeps the cause, and errors
// that are not the database's as they are.
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
		return fmt.Errorf("the database %s cannot be reached: %w", place, errors.Unwrap(lost))
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
	case codeNoTable:
		what = "has lost the tables of the sessions: restore them from a backup, then start the host again"
	case codeTooMany:
		what = "has no connection left: raise its max_connections, or lower pool_max_conns in its address"
	case codeNoPrivilege:
		return fmt.Errorf("the database %s does not let this user do that: make the user its owner: %w (%w)", place, store.ErrReadOnly, refused)
	case codeDiskFull:
		return fmt.Errorf("the database %s: %w (%w)", place, store.ErrFull, refused)
	case codeReadOnly:
		return fmt.Errorf("the database %s is read-only: use the address of its primary: %w (%w)", place, store.ErrReadOnly, refused)
	default:
		return err
	}
	return fmt.Errorf("the database %s %s: %w", place, what, refused)
}
