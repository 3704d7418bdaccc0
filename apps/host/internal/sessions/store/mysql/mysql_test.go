package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/mysql"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows/rowstest"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func open(t testing.TB, dsn string) store.Provider {
	t.Helper()
	p, err := mysql.Open(t.Context(), dsn, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		dsn := testdb.MariaDB(t)
		return func(t *testing.T) store.Provider { return open(t, dsn) }
	})
}

func exec(t *testing.T, dsn, statement string) {
	t.Helper()
	if _, err := testdb.OpenMariaDB(t, dsn).ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestDatabase(t *testing.T) {
	rowstest.Run(t, rowstest.Database{
		Kind: testdb.KindMariaDB, New: testdb.MariaDB,
		Open: func(ctx context.Context, dsn string) (store.Provider, error) {
			return mysql.Open(ctx, dsn, slog.New(slog.DiscardHandler))
		},
		Exec:     exec,
		EndLocks: endLocks,
	})
}

// endLocks kills the connections of all hosts: the server does not tell which ones
// hold locks.
func endLocks(t *testing.T, dsn string) {
	t.Helper()
	db := testdb.OpenMariaDB(t, dsn)
	db.SetMaxOpenConns(1)
	for {
		var id int64
		err := db.QueryRowContext(t.Context(), `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() LIMIT 1`).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = db.ExecContext(t.Context(), fmt.Sprint("KILL ", id)) // it may be gone by now
	}
}
