package keyfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/keyfile/keystore"
	"github.com/scorel/scorel/packages/keyfile/keystore/keystoretest"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestIdentitiesMoveToTheKeyStore speaks to a Secret Service over a real bus. It is one
// test, because one process has one bus.
func TestIdentitiesMoveToTheKeyStore(t *testing.T) {
	service := keystoretest.Serve(t)
	path := filepath.Join(t.TempDir(), "identity.json")
	keys, err := keyfile.LoadOrCreate(path, ident.KindDevice)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	move := func(toSystem bool) {
		t.Helper()
		for range 2 { // the second changes nothing
			if err := keyfile.Move(t.Context(), path, ident.KindDevice, toSystem); err != nil {
				t.Fatal(err)
			}
		}
		if in, err := keyfile.InSystem(path); err != nil || in != toSystem {
			t.Fatalf("in the key store: %v, %v", in, err)
		}
		back, err := keyfile.LoadOrCreate(path, ident.KindDevice)
		if err != nil || !back.Equal(keys) {
			t.Fatalf("%v", err)
		}
	}
	move(true)
	kept, id := service.Secrets(), keys.ID().String()
	text, err := os.ReadFile(path)
	if err != nil || len(kept) != 1 || len(kept[id]) < 80 || strings.Contains(string(text), kept[id]) {
		t.Fatalf("%d secrets, %v, the file is %s", len(kept), err, text)
	}

	// A locked store: no one waits forever, and nothing is created again.
	service.Lock()
	if _, err := keyfile.LoadOrCreate(path, ident.KindDevice); !errors.Is(err, keystore.ErrUnavailable) || !strings.Contains(err.Error(), "unlock it") {
		t.Fatalf("locked: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := keystore.Set(ended, "x", "y"); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("locked: %v", err)
	}
	service.Unlock()
	move(false)
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) || len(service.Secrets()) != 0 {
		t.Fatalf("the file is %s, %v", after, err)
	}

	// A store that lost the secret.
	move(true)
	service.Clear()
	if _, err := keyfile.LoadOrCreate(path, ident.KindDevice); !errors.Is(err, keystore.ErrNotFound) || !strings.Contains(err.Error(), id) {
		t.Fatalf("lost: %v", err)
	}
	if err := keyfile.Move(t.Context(), path, ident.KindDevice, false); err == nil {
		t.Error("a secret that is lost was moved")
	}
	if err := keyfile.Move(t.Context(), path+"none", ident.KindDevice, true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}

	// No bus: the file stays as it is.
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	other := filepath.Join(t.TempDir(), "entry.json")
	if _, err := keyfile.LoadOrCreate(other, ident.KindClient); err != nil {
		t.Fatal(err)
	}
	if err := keyfile.Move(t.Context(), other, ident.KindClient, true); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("no bus: %v", err)
	}
	if in, err := keyfile.InSystem(other); err != nil || in {
		t.Errorf("%v, %v", in, err)
	}
}
