package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows/rowstest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func database() rowstest.Database {
	return rowstest.Database{
		Kind: testdb.KindPostgres, New: testdb.Postgres, Open: postgres.Open, Exec: exec,
		EndLocks: func(t *testing.T, dsn string) {
			exec(t, dsn, `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory'
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		},
	}
}

func TestContract(t *testing.T) { rowstest.Contract(t, database()) }

func TestDatabase(t *testing.T) { rowstest.Run(t, database()) }

func BenchmarkProvider(b *testing.B) { rowstest.Bench(b, database()) }

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
