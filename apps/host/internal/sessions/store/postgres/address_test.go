package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/packages/testdb"
)

const secret = "hunter2"

func TestErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	missing, err := url.Parse(testdb.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	missing.User, missing.Path = url.UserPassword("postgres", secret), "/no_such_database"
	for name, tc := range map[string]struct{ address, want string }{
		"not a URL":        {"user:" + secret + "@host/db", "cannot be read: give it as in postgres://"},
		"other scheme":     {"mysql://u:" + secret + "@host/db", "cannot be read"},
		"slash in it":      {"postgres://u:" + secret + "/x@host/db", "percent-encoded"},
		"bad option":       {"postgres://u:" + secret + "@host/db?pool_max_conns=many", "cannot be read"},
		"nobody there":     {"postgres://u:" + secret + "@" + nobody + "/x", "the database x on " + nobody + " cannot be reached: "},
		"no such database": {missing.String(), "does not exist: make it with createdb"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), tc.address, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			for _, form := range []string{"%v", "%+v", "%#v"} {
				if strings.Contains(fmt.Sprintf(form, err), secret[:4]) {
					t.Errorf("the password is in %q as %s", err, form)
				}
			}
		})
	}
}

// TestReadOnly: a database that takes no writes says so, nothing is stored, and the
// session goes on when it does again.
func TestReadOnly(t *testing.T) {
	dsn := testdb.Postgres(t)
	p := open(t, dsn)
	defer p.Close()
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
