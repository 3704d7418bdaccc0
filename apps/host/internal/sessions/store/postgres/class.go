package postgres

import (
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
)

// Error codes of PostgreSQL after which a statement may be retried, and the one of a duplicate
// key.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeShutdown      = "57P01"
	codeCrash         = "57P02"
	codeStarting      = "57P03"
	codeIdle          = "57P05"
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
