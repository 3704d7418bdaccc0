package storeurl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/relay/store/storeurl"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestOpenAndConnect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "relay.db")
	for name, url := range map[string]string{"sqlite": storeurl.SQLite(file), "postgres": testdb.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			st, err := storeurl.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(st.Check(t.Context()), st.Close()); err != nil {
				t.Error(err)
			}
			if st, err = storeurl.Connect(t.Context(), url); err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			have, need, err := st.Schema(t.Context())
			if err != nil || have != need {
				t.Errorf("schema %d of %d, %v", have, need, err)
			}
			if st.Place == "" || strings.Contains(st.Place, "://") {
				t.Errorf("place %q", st.Place)
			}
		})
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the store: %v, %v", info, err)
	}
}

func TestConnectWantsAStore(t *testing.T) {
	_, err := storeurl.Connect(t.Context(), storeurl.SQLite(filepath.Join(t.TempDir(), "relay.db")))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestWrongURLsAreNotRepeated(t *testing.T) {
	for _, url := range []string{"", "relay.db", "sqlite:", "mysql://u:hunter2@host/db", "postgres:/u:hunter2@host/db", "host=box password=hunter2"} {
		for what, err := range map[string]error{"Check": storeurl.Check(url), "Open": second(storeurl.Open(t.Context(), url)), "Connect": second(storeurl.Connect(t.Context(), url))} {
			if !errors.Is(err, storeurl.ErrURL) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s of %q: %v", what, url, err)
			}
		}
	}
}

func second(_ storeurl.Archive, err error) error { return err }
