package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows/rowstest"
	"github.com/scorel/scorel/packages/testdb"
)

func TestErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	unused := testdb.UnusedAddress(t)
	rowstest.CheckAddresses(t, database(), map[string]testdb.BadAddress{
		"not a URL": {"user:" + testdb.Secret + "@host/db", "the address of the session database is invalid"},
		"no server": {"postgres://u:" + testdb.Secret + "@" + unused + "/x", "the database x on " + unused + " cannot be reached ("},
	})
}

// TestReadOnly: a database that takes no writes says so, nothing is stored, and the
// session continues when it does again.
func TestReadOnly(t *testing.T) {
	dsn := testdb.Postgres(t)
	p := database().Provider(t, dsn)
	header := json.RawMessage(`{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/x"}`)
	log, err := p.Create(t.Context(), "prj_1", header)
	if err != nil {
		t.Fatal(err)
	}
	cut := func() {
		exec(t, dsn, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	const alter = `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || '%s'; END $$`
	line := json.RawMessage(`{"type":"custom","id":"a","parentId":null}`)
	exec(t, dsn+"&default_transaction_read_only=off", fmt.Sprintf(alter, " SET default_transaction_read_only = on"))
	cut() // connections that are open do not see it
	if err := log.Append(t.Context(), line); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "use the address of its primary") {
		t.Errorf("adding to a read-only database: %v", err)
	}
	exec(t, dsn+"&default_transaction_read_only=off", fmt.Sprintf(alter, " RESET default_transaction_read_only"))
	cut()
	if err := log.Append(t.Context(), line); err != nil {
		t.Errorf("after that: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}
