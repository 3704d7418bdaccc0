package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store/mysql"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows/rowstest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func database() rowstest.Database {
	return rowstest.Database{
		Kind: testdb.KindMariaDB, New: testdb.MariaDB, Open: mysql.Open, Exec: exec, EndLocks: endLocks,
	}
}

func TestContract(t *testing.T) { rowstest.Contract(t, database()) }

func TestDatabase(t *testing.T) { rowstest.Run(t, database()) }

func BenchmarkProvider(b *testing.B) { rowstest.Bench(b, database()) }

func exec(t *testing.T, dsn, statement string) {
	t.Helper()
	if _, err := testdb.OpenMariaDB(t, dsn).ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
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
