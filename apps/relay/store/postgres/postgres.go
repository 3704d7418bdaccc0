// Package postgres stores a relay's durable state in PostgreSQL. It is the store
// for a relay of several nodes: any number of them may share one database and start
// at the same time.
//
// The address is a URL as in libpq, such as
// postgres://user:password@host:5432/database?sslmode=verify-full. Nothing here
// logs it or puts it into an error: Place is what may be shown.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/internal/sqlstore"
	"github.com/scorel/scorel/packages/pgpool"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// maxConns limits the connections of one node, unless the address sets
	// pool_max_conns: when thousands of peers log in at once they queue for these.
	maxConns = 16
	// migrateLock is the key of the advisory lock for schema migrations, mergeLock
	// of the one for merging rows.
	migrateLock = 0x73636f7265_01
	mergeLock   = 0x73636f7265_02
	// migrateWait is how many seconds a node waits for another one's migration.
	migrateWait = 300
	// versions includes the relay's name, because other parts may share the
	// database.
	versions = "relay_schema_versions"
)

// DB is a store.Archive in a PostgreSQL database.
type DB struct {
	*sqlstore.Store
	adapter adapter
	sql     *sql.DB // over the same pool, for the migrations
	schema  sqlstore.Schema
}

var _ store.Archive = (*DB)(nil)

// Open connects, brings the schema up to date, and fails if the user may not write.
func Open(ctx context.Context, address string) (*DB, error) {
	d, err := Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := d.Migrate(ctx); err != nil {
		_ = d.Close() // the first error is returned
		return nil, err
	}
	if err := d.writable(ctx); err != nil {
		_ = d.Close() // the first error is returned
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return d, nil
}

// writable fails if the database or the user's rights do not let a relay write. It changes nothing.
func (d *DB) writable(ctx context.Context) error {
	_, err := d.adapter.Exec(ctx, sqlstore.Statement{SQL: "UPDATE bindings SET revoked_at = revoked_at WHERE false"})
	return err
}

// Connect connects and leaves the schema as it is.
func Connect(ctx context.Context, address string) (*DB, error) {
	cfg, err := pgpool.Parse(address, "the store's address", defaults())
	if err != nil {
		return nil, err
	}
	a := adapter{words: explainer(cfg)}
	if a.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, a.words.Explain(err)
	}
	if err := a.pool.Ping(ctx); err != nil {
		a.pool.Close()
		return nil, a.words.Explain(err)
	}
	d := &DB{Store: sqlstore.New(a, "postgres"), adapter: a, sql: stdlib.OpenDBFromPool(a.pool)}
	if d.schema, err = newSchema(d.sql); err != nil {
		_ = d.Close() // the first error is returned
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return d, nil
}

// defaults names the relay in pg_stat_activity.
func defaults() pgpool.Defaults {
	return pgpool.Defaults{MaxConns: maxConns, Params: map[string]string{"application_name": "scorel-relay"}}
}

func explainer(cfg *pgxpool.Config) pgpool.Explainer {
	return pgpool.Explainer{
		Place:       pgpool.Place(cfg),
		Unreachable: store.ErrUnreachable,
		NoTable:     "has no relay tables: run `scorel relay store migrate`",
	}
}

func newSchema(db *sql.DB) (sqlstore.Schema, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return sqlstore.Schema{}, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrateLock), lock.WithLockTimeout(1, migrateWait))
	if err != nil {
		return sqlstore.Schema{}, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, dir, goose.WithTableName(versions), goose.WithSessionLocker(locker))
	if err != nil {
		return sqlstore.Schema{}, err
	}
	return sqlstore.Schema{
		Provider: provider,
		Exists:   sqlstore.Statement{SQL: `SELECT count(to_regclass('` + versions + `'))`},
		Versions: versions,
	}, nil
}

// Migrate implements store.Archive.
func (d *DB) Migrate(ctx context.Context) error {
	if err := d.schema.Up(ctx, d.adapter); err != nil {
		return fmt.Errorf("postgres: preparing %s: %w", d.Place(), err)
	}
	return nil
}

// Schema implements store.Archive.
func (d *DB) Schema(ctx context.Context) (have, need int64, err error) {
	have, err = d.schema.Have(ctx, d.adapter)
	return have, d.schema.Need(), err
}

// Place returns the database's name for people, without any secret.
func (d *DB) Place() string { return d.adapter.words.Place }

// Close implements store.Store. It waits for running operations.
func (d *DB) Close() error {
	err := d.sql.Close() // returns its connections to the pool
	d.adapter.pool.Close()
	return err
}
