// Package postgres stores sessions in PostgreSQL 12 or newer, with package rows.
//
// The address is a URL as libpq reads it, such as
// postgres://user:password@host:5432/database?sslmode=verify-full. It must lead to the server
// itself or to a pool that gives each client a connection of its own, because locks belong to
// connections. The package never logs the address or puts it into an error; Place may be shown.
package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
	"github.com/scorel/scorel/packages/pgpool"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// maxConns bounds the connections of one host, besides the one that holds locks, unless the
	// address sets pool_max_conns.
	maxConns = 8
	// maxLine is the longest line, in bytes: a value has at most 1 GB.
	maxLine = 500 << 20
	// migrateLock is the key of the advisory lock for migrations.
	migrateLock = 0x73636f7265_11
)

// Place validates an address without connecting, and returns a name of its database for people.
func Place(address string) (string, error) {
	cfg, err := parse(address)
	if err != nil {
		return "", err
	}
	return pgpool.Place(cfg), nil
}

// Open connects and migrates the tables if necessary.
func Open(ctx context.Context, address string, logger *slog.Logger) (*rows.Provider, error) {
	cfg, err := parse(address)
	if err != nil {
		return nil, err
	}
	d := dialect(cfg)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, d.Explain(err)
	}
	db, locks := stdlib.OpenDBFromPool(pool), stdlib.OpenDB(*cfg.ConnConfig)
	end := func() error {
		err := errors.Join(locks.Close(), db.Close())
		pool.Close()
		return err
	}
	schema, err := prepare(ctx, db)
	if err != nil {
		_ = end() // the first error is the one to return
		return nil, fmt.Errorf("preparing the sessions' tables: %w", d.Explain(err))
	}
	d.LockKey = func(id string) any { return lockKey(schema, id) }
	return rows.New(d, rows.Databases{Pool: db, Locks: locks, Close: end, Logger: logger}), nil
}

// prepare creates or migrates the tables, and returns their schema.
func prepare(ctx context.Context, db *sql.DB) (schema string, err error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return "", err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrateLock), lock.WithLockTimeout(1, 300))
	if err != nil {
		return "", err
	}
	m := rows.Migration{Dialect: goose.DialectPostgres, Files: dir, Locker: locker, Schema: "current_schema()"}
	if err := m.Up(ctx, db); err != nil {
		return "", err
	}
	return schema, db.QueryRowContext(ctx, `SELECT current_schema()`).Scan(&schema)
}

func parse(address string) (*pgxpool.Config, error) {
	cfg, err := pgpool.Parse(address, "the address of the session database", pgpool.Defaults{
		MaxConns: maxConns,
		Params: map[string]string{
			"application_name":   "scorel-host",
			"synchronous_commit": "on", // acknowledged data is on disk, whatever the database's default
		},
	})
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	return cfg, nil
}

func dialect(cfg *pgxpool.Config) *rows.Dialect {
	words := pgpool.Explainer{
		Place: pgpool.Place(cfg), ReadOnly: store.ErrReadOnly, Full: store.ErrFull,
		NoTable: "has lost the tables of the sessions: restore them from a backup, then start the host again",
	}
	return &rows.Dialect{
		Name: "postgres", Place: words.Place, Numbered: true,
		TryLock: `SELECT pg_try_advisory_lock(?)::int`,
		Unlock:  `SELECT pg_advisory_unlock(?)`,
		Setup:   []string{`SET idle_session_timeout = '60s'`},
		MaxLine: maxLine, TooLarge: errors.New("does not accept a line of this size"),
		ClassOf: classOf,
		Explain: words.Explain,
	}
}

// lockKey is the key of a session's advisory lock. Such locks are per database.
func lockKey(schema, id string) int64 {
	sum := sha256.Sum256([]byte("scorel session\x00" + schema + "\x00" + id))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
