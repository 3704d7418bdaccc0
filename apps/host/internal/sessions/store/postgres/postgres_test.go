package postgres_test

import (
	"log/slog"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func open(t *testing.T, dsn string) store.Provider {
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
