package postgres_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows/rowstest"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func open(t testing.TB, dsn string) store.Provider {
	t.Helper()
	p, err := postgres.Open(t.Context(), dsn, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		dsn := testdb.Postgres(t)
		return func(t *testing.T) store.Provider { return open(t, dsn) }
	})
}

func exec(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestDatabase(t *testing.T) {
	rowstest.Run(t, rowstest.Database{
		Kind: testdb.KindPostgres, New: testdb.Postgres, Exec: exec,
		Open: func(ctx context.Context, dsn string) (store.Provider, error) {
			return postgres.Open(ctx, dsn, slog.New(slog.DiscardHandler))
		},
		EndLocks: func(t *testing.T, dsn string) {
			exec(t, dsn, `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory'
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		},
	})
}
