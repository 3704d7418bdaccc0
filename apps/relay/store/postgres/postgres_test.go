package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/postgres"
	"github.com/scorel/scorel/apps/relay/store/storetest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func open(t *testing.T, dsn string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (store.Store, func() store.Store) {
		dsn := testdb.Postgres(t)
		return open(t, dsn), func() store.Store { return open(t, dsn) }
	})
}

func TestArchiveContract(t *testing.T) {
	storetest.RunArchive(t, func(t *testing.T) store.Archive { return open(t, testdb.Postgres(t)) })
}

// TestManyNodesStartAtOnce opens one fresh database from many nodes: one makes the
// schema, the others wait for it, all can use it.
func TestManyNodesStartAtOnce(t *testing.T) {
	dsn := testdb.Postgres(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, err := postgres.Open(t.Context(), dsn)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if err := db.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
	if n := count(t, dsn, `SELECT count(*) - count(DISTINCT version_id) FROM relay_schema_versions`); n != 0 {
		t.Errorf("%d migrations were noted more than once", n)
	}
}

func exec(t *testing.T, dsn, statement string) {
	t.Helper()
	conn := connect(t, dsn)
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, dsn, query string) (n int) {
	t.Helper()
	if err := connect(t, dsn).QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestConnectChangesNothing(t *testing.T) {
	dsn := testdb.Postgres(t)
	db, err := postgres.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if have, need, err := db.Schema(t.Context()); err != nil || have != 0 || need == 0 {
		t.Errorf("schema %d of %d, %v", have, need, err)
	}
	if err := db.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "scorel relay store migrate") {
		t.Errorf("Check without a schema: %v", err)
	}
	if n := count(t, dsn, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`); n != 0 {
		t.Errorf("%d tables were made", n)
	}
}

// A relay that could only read would fail at its first pairing.
func TestADatabaseThatIsReadOnlyIsRefused(t *testing.T) {
	dsn := testdb.Postgres(t)
	if err := open(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), dsn+"&default_transaction_read_only=on")
	if err == nil {
		_ = db.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "is read-only: use the address of its primary") {
		t.Errorf("opened: %v", err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dsn := testdb.Postgres(t)
	if err := open(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	exec(t, dsn, `INSERT INTO relay_schema_versions (version_id, is_applied) VALUES (9999, true)`)
	if _, err := postgres.Open(t.Context(), dsn); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "update this program") {
		t.Fatalf("Open: %v", err)
	}
}

func TestDamagedKeysAreNoAuthorization(t *testing.T) {
	dsn := testdb.Postgres(t)
	db := open(t, dsn)
	defer db.Close()
	device, client := party(ident.KindDevice, 1), party(ident.KindClient, 2)
	if err := db.Bind(t.Context(), device, client, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	exec(t, dsn, `UPDATE clients SET sign_key = '\x00'::bytea || substr(sign_key, 2)`)
	if got, err := db.Bindings(t.Context(), device.ID); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("damaged keys were returned: %v, %v", got, err)
	}
}

func party(kind ident.Kind, seed byte) store.Party {
	keys := ident.Public{Sign: ident.SignPublic{seed}, Seal: ident.SealPublic{seed}}
	return store.Party{ID: ident.NewID(kind, keys), Public: keys, Label: "x"}
}

// TestOneConnectionIsEnough: a small database may allow no more, and the
// migrations must not wait for a second one.
func TestOneConnectionIsEnough(t *testing.T) {
	db := open(t, testdb.Postgres(t)+"&pool_max_conns=1")
	defer db.Close()
	if err := db.Bind(t.Context(), party(ident.KindDevice, 1), party(ident.KindClient, 2), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
}

// TestThePoolIsBounded asks far more at once than the pool has connections.
func TestThePoolIsBounded(t *testing.T) {
	dsn := testdb.Postgres(t)
	db := open(t, dsn)
	defer db.Close()
	device := party(ident.KindDevice, 1)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if _, err := db.Bindings(t.Context(), device.ID); err != nil {
				t.Errorf("Bindings: %v", err)
			}
		})
	}
	wg.Wait()
	if n := count(t, dsn, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'scorel-relay'`); n < 1 || n > 16 {
		t.Errorf("%d connections", n)
	}
}

// TestTheDatabaseComesBack: connections that were cut are replaced.
func TestTheDatabaseComesBack(t *testing.T) {
	dsn := testdb.Postgres(t)
	db := open(t, dsn)
	defer db.Close()
	device, client := party(ident.KindDevice, 1), party(ident.KindClient, 2)
	if err := db.Bind(t.Context(), device, client, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	exec(t, dsn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	var err error
	for range 20 { // each failure takes a dead connection out of the pool
		if _, err = db.Bindings(t.Context(), device.ID); err == nil {
			return
		}
	}
	t.Fatalf("Bindings: %v", err)
}

func TestErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	unused := testdb.UnusedAddress(t)
	try := func(t *testing.T, address string) error {
		_, err := postgres.Open(t.Context(), address)
		return err
	}
	testdb.CheckAddresses(t, try, map[string]testdb.BadAddress{
		"not a URL": {"user:" + testdb.Secret + "@host/db", "the store's address is invalid"},
		"no server": {"postgres://u:" + testdb.Secret + "@" + unused + "/relay", "the database relay on " + unused + " cannot be reached ("},
	})
	if err := try(t, "postgres://u@"+unused+"/relay"); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("%v is not ErrUnreachable", err)
	}
}

func TestPlaceHasNoSecret(t *testing.T) {
	u, err := url.Parse(testdb.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	secret, given := u.User.Password()
	if !given { // a container asks for one, a program of this machine does not
		secret = testdb.Secret
		u.User = url.UserPassword("postgres", secret)
	}
	db := open(t, u.String())
	defer db.Close()
	if p := db.Place(); strings.Contains(p, secret) || !strings.Contains(p, strings.TrimPrefix(u.Path, "/")+" on ") {
		t.Errorf("place %q", p)
	}
}
