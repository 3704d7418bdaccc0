package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// versions is the table of applied migrations. Its name is specific, because other programs may
// share the database.
const versions = "scorel_session_versions"

// migrateTimeout bounds a migration, including the wait for another process.
const migrateTimeout = 5 * time.Minute

// ErrSchema: the tables were made by a newer program.
var ErrSchema = errors.New("its tables were created by a newer scorel: update this program")

// Migration describes how the tables of a database are created.
type Migration struct {
	Dialect goose.Dialect
	Files   fs.FS              // *.sql
	Locker  lock.SessionLocker // one process at a time migrates
	Schema  string             // expression for the schema that contains the tables
}

// Up creates the tables or migrates them. If they are up to date it takes no lock, so that it
// is cheap at each start.
func (m Migration) Up(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	provider, err := goose.NewProvider(m.Dialect, db, m.Files, goose.WithTableName(versions))
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	need := sources[len(sources)-1].Version // goose requires at least one
	have, err := m.have(ctx, db)
	switch {
	case err != nil || have == need:
		return err
	case have > need:
		return fmt.Errorf("%w (version %d, this program supports %d)", ErrSchema, have, need)
	}
	return m.alone(ctx, db, func() error {
		_, err := provider.Up(ctx)
		return err
	})
}

// alone runs f while no other process migrates. goose can take the lock itself, but reads the
// table of versions before that: in a database that cannot roll back the creation of a table,
// it may find an incomplete one.
func (m Migration) alone(ctx context.Context, db *sql.DB, f func() error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := m.Locker.SessionLock(ctx, conn); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Locker.SessionUnlock(context.WithoutCancel(ctx), conn)) }()
	return f()
}

// have returns the applied version, 0 for none.
func (m Migration) have(ctx context.Context, db *sql.DB) (version int64, err error) {
	var tables int
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM information_schema.tables WHERE table_schema = `+m.Schema+` AND table_name = '`+versions+`'`).Scan(&tables)
	if err != nil || tables == 0 {
		return 0, err
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versions+` WHERE is_applied`).Scan(&version)
	return version, err
}
