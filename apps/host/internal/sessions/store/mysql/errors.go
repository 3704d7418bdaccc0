package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
)

// Numbers of MySQL and MariaDB.
const (
	numDuplicate      = 1062
	numLockWait       = 1205
	numDeadlock       = 1213
	numShutdown       = 1053
	numKilled         = 1317 // the query
	numConnKilled     = 1927
	numIdle           = 4031 // MySQL closed an unused connection
	numTooMany        = 1040
	numTooManyOfUser  = 1203
	numDatabaseDenied = 1044
	numLoginRefused   = 1045
	numNoDatabase     = 1049
	numTableDenied    = 1142
	numNoTable        = 1146
	numPacket         = 1153
	numDiskFull       = 1021
	numTableFull      = 1114
	numReadOnlyOption = 1290
	numReadOnlyTx     = 1792
	numReadOnlyMode   = 1836
	numAllDisksFull   = 3675
)

func classOf(err error) rows.Class {
	var refused *mysql.MySQLError
	var network *net.OpError
	switch {
	case errors.As(err, &refused):
		switch refused.Number {
		case numDuplicate:
			return rows.Duplicate
		case numLockWait, numDeadlock, numShutdown, numKilled, numConnKilled, numIdle:
			return rows.Again
		}
		return rows.Refused
	case errors.As(err, &network) && network.Op == "dial":
		return rows.Unreachable
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, mysql.ErrPktTooLarge):
		return rows.Refused
	}
	return rows.Cut
}

// explain describes an error of the database and wraps it. Other errors are returned unchanged.
func explain(place string, err error) error {
	var refused *mysql.MySQLError
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return explainRefusal(place, refused, err)
	case errors.Is(err, mysql.ErrPktTooLarge):
		return fmt.Errorf("the database %s %w (%w)", place, errTooLarge, err)
	case errors.As(err, &network) && network.Op == "dial", errors.Is(err, mysql.ErrInvalidConn):
		return fmt.Errorf("the database %s cannot be reached: %w", place, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the database %s does not answer: %w", place, err)
	}
	return err
}

var errTooLarge = errors.New("does not accept a line of this size: raise its max_allowed_packet")

func explainRefusal(place string, refused *mysql.MySQLError, err error) error {
	what := ""
	switch refused.Number {
	case numLoginRefused:
		what = "rejects the login: check the user and password"
	case numNoDatabase:
		what = "does not exist: create it with CREATE DATABASE"
	case numNoTable:
		what = "has lost the tables of the sessions: restore them from a backup, then start the host again"
	case numTooMany, numTooManyOfUser:
		what = "has no free connections: raise its max_connections"
	case numPacket:
		return fmt.Errorf("the database %s %w (%w)", place, errTooLarge, refused)
	case numDatabaseDenied, numTableDenied:
		return fmt.Errorf("the database %s does not allow this user to do that: grant the user all privileges on it: %w (%w)", place, store.ErrReadOnly, refused)
	case numDiskFull, numTableFull, numAllDisksFull:
		return fmt.Errorf("the database %s: %w (%w)", place, store.ErrFull, refused)
	case numReadOnlyOption, numReadOnlyTx, numReadOnlyMode:
		return fmt.Errorf("the database %s is read-only: use the address of its primary: %w (%w)", place, store.ErrReadOnly, refused)
	default:
		return err
	}
	return fmt.Errorf("the database %s %s: %w", place, what, refused)
}
