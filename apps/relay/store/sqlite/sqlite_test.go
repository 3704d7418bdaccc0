package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/storetest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		writeUntilKilled(path)
	}
	leakcheck.Main(m)
}

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (store.Store, func() store.Store) {
		path := filepath.Join(t.TempDir(), "a folder with % and ?.db")
		return open(t, path), func() store.Store { return open(t, path) }
	})
}

func TestArchiveContract(t *testing.T) {
	storetest.RunArchive(t, func(t *testing.T) store.Archive {
		return open(t, filepath.Join(t.TempDir(), "relay.db"))
	})
}

func TestConnectMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	db, err := Connect(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(t.Context()); err == nil {
		t.Error("a store that is not there says that it can answer")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	db := open(t, path)
	defer db.Close()
	if _, err := db.db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "update this program") {
		t.Fatalf("Open: %v", err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	_, err := Open(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder", "relay.db"))
	if err == nil || !strings.Contains(err.Error(), "no/such/folder/relay.db") {
		t.Fatalf("got %v, want an error that names the file", err)
	}
}

func TestDamagedKeysAreNoAuthorization(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "relay.db"))
	defer db.Close()
	device, client := party(ident.KindDevice, 1), party(ident.KindClient, 2)
	if err := db.Bind(t.Context(), device, client, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.db.Exec(`UPDATE clients SET sign_key = x'00' || substr(sign_key, 2)`); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Bindings(t.Context(), device.ID); err == nil {
		t.Fatalf("damaged keys were returned: %v", got)
	}
}

func party(kind ident.Kind, seed byte) store.Party {
	keys := ident.Public{Sign: ident.SignPublic{seed}, Seal: ident.SealPublic{seed}}
	return store.Party{ID: ident.NewID(kind, keys), Public: keys, Label: "x"}
}
