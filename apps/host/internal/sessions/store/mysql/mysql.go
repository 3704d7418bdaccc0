// Package mysql keeps sessions in MySQL 8 or MariaDB 10.5, or newer: package rows
// says how.
//
// The address is a URL: mysql://user:password@host:3306/database, with the options
// tls (true, preferred or skip-verify), timeout (such as 5s) and socket (the path
// of a Unix socket instead of a host). mariadb:// means the same. Nothing here logs
// the address or puts it into an error: Place is what may be shown.
package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// maxConns bounds the connections of one host, besides the one that holds locks.
	maxConns = 8
	// maxIdle is how long an unused connection stays open: less than the idle timeout of
	// servers and proxies.
	maxIdle = time.Minute
)

// Place validates an address without connecting, and returns a name of its database for people.
func Place(address string) (string, error) {
	cfg, err := parse(address)
	if err != nil {
		return "", err
	}
	if _, err := mysql.NewConnector(cfg); err != nil {
		return "", errAddress // the error may contain a part of the password
	}
	return place(cfg), nil
}

// Open connects and migrates the tables if necessary.
func Open(ctx context.Context, address string, logger *slog.Logger) (*rows.Provider, error) {
	cfg, err := parse(address)
	if err != nil {
		return nil, err
	}
	d := dialect(cfg)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, errAddress // the error may contain a part of the password
	}
	db, locks := sql.OpenDB(connector), sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(maxIdle)
	end := func() error { return errors.Join(locks.Close(), db.Close()) }
	if err := prepare(ctx, db); err != nil {
		_ = end() // the first error is the one to return
		return nil, fmt.Errorf("preparing the sessions' tables: %w", d.Explain(err))
	}
	if d.MaxLine, err = maxLine(ctx, db); err != nil {
		_ = end() // the first error is the one to return
		return nil, fmt.Errorf("reading max_allowed_packet: %w", d.Explain(err))
	}
	noteDurability(ctx, db, logger, d.Place)
	return rows.New(d, rows.Databases{Pool: db, Locks: locks, Close: end, Logger: logger}), nil
}

func prepare(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	m := rows.Migration{Dialect: goose.DialectMySQL, Files: dir, Locker: migrateLock{}, Schema: "DATABASE()"}
	return m.Up(ctx, db)
}

// maxLine asks the server for the maximum size of a statement.
func maxLine(ctx context.Context, db *sql.DB) (int, error) {
	const around = 64 << 10 // for the rest of the statement
	var packet int
	err := db.QueryRowContext(ctx, `SELECT @@GLOBAL.max_allowed_packet`).Scan(&packet)
	return max(0, packet-around), err
}

// noteDurability logs if the server may lose acknowledged data: unlike with PostgreSQL, a
// connection cannot choose this.
func noteDurability(ctx context.Context, db *sql.DB, logger *slog.Logger, place string) {
	var flush string
	err := db.QueryRowContext(ctx, `SELECT @@GLOBAL.innodb_flush_log_at_trx_commit`).Scan(&flush)
	if err == nil && flush != "1" {
		logger.Warn("the database may lose the last second of a session when its machine crashes: set innodb_flush_log_at_trx_commit to 1",
			"store", "mysql", "place", place, "innodb_flush_log_at_trx_commit", flush)
	}
}

// migrateLock lets one process at a time migrate the tables of a database.
type migrateLock struct{}

// migrateWait is how many seconds a process waits for a migration by another one.
const migrateWait = 300

func (migrateLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, `SELECT GET_LOCK(CONCAT('scorel migration ', MD5(DATABASE())), ?)`, migrateWait).Scan(&got)
	if err == nil && got.Int64 != 1 {
		err = errors.New("another process is still changing the tables: try again later")
	}
	return err
}

func (migrateLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `DO RELEASE_LOCK(CONCAT('scorel migration ', MD5(DATABASE())))`)
	return err
}

func dialect(cfg *mysql.Config) *rows.Dialect {
	where := place(cfg)
	return &rows.Dialect{
		Name: "mysql", Place: where,
		TryLock:  `SELECT GET_LOCK(?, 0)`,
		Unlock:   `DO RELEASE_LOCK(?)`,
		Setup:    []string{`SET SESSION wait_timeout = 60`},
		LockKey:  func(id string) any { return lockKey(cfg.DBName, id) },
		TooLarge: errTooLarge,
		ClassOf:  classOf,
		Explain:  func(err error) error { return explain(where, err) },
	}
}

// lockKey is the name of a session's lock. Names are shared by all databases of a server,
// ignore case, and have at most 64 characters.
func lockKey(database, id string) string {
	sum := sha256.Sum256([]byte("scorel session\x00" + database + "\x00" + id))
	return "scorel:" + hex.EncodeToString(sum[:24])
}
