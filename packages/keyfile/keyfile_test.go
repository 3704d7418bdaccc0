package keyfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func TestLoadOrCreateKeepsTheIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "identity.json")
	first, err := keyfile.LoadOrCreate(path, ident.KindDevice)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keyfile.LoadOrCreate(path, ident.KindDevice)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Equal(second) {
		t.Fatal("the second load gave other keys")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %04o, want 0600", info.Mode().Perm())
	}
}

func TestCreateRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.json")
	const n = 8
	ids := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			keys, err := keyfile.LoadOrCreate(path, ident.KindClient)
			if err == nil {
				ids[i] = keys.ID().String()
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("processes that start together have different identities: %v", ids)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.json")
	if _, err := keyfile.LoadOrCreate(good, ident.KindDevice); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		data string
		mode os.FileMode
		want string
	}{
		"others can read": {string(data), 0o644, "chmod 600"},
		"not JSON":        {"key", 0o600, "damaged"},
		"other version":   {strings.Replace(string(data), `"version": 1`, `"version": 9`, 1), 0o600, "damaged"},
		"short secret":    {`{"version":1,"id":"x","secret":"AAAA"}`, 0o600, "64"},
		"other id":        {strings.Replace(string(data), `"id": "dev_`, `"id": "dev_a`, 1), 0o600, "names"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "identity.json")
			if err := os.WriteFile(path, []byte(test.data), test.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := keyfile.Load(path, ident.KindDevice); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	if _, err := keyfile.Load(filepath.Join(t.TempDir(), "none"), ident.KindDevice); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v, want fs.ErrNotExist", err)
	}
}
