package devices

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/shortid"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func newDevice(t *testing.T, label string) Device {
	t.Helper()
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Device{ID: keys.ID(), Public: keys.Public(), Label: label, RelayURL: "https://relay.example", PairedAt: 1}
}

func TestAddFindRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "devices.json")
	home, work := newDevice(t, "home"), newDevice(t, "work")
	for _, d := range []Device{home, work, home} { // pairing again renews
		if err := Add(path, d); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Load(path)
	if err != nil || !reflect.DeepEqual(list, []Device{work, home}) {
		t.Fatalf("got %+v, %v", list, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := Remove(path, work.ID); err != nil {
		t.Fatal(err)
	}
	if err := Remove(path, work.ID); err != nil { // twice is fine
		t.Fatal(err)
	}
	if list, err = Load(path); err != nil || !reflect.DeepEqual(list, []Device{home}) {
		t.Fatalf("got %+v, %v", list, err)
	}
}

func TestLoadMissing(t *testing.T) {
	if list, err := Load(filepath.Join(t.TempDir(), "devices.json")); err != nil || list != nil {
		t.Fatalf("got %v, %v", list, err)
	}
}

func TestLoadDamaged(t *testing.T) {
	swapped := newDevice(t, "swapped")
	swapped.Public = newDevice(t, "other").Public
	path := filepath.Join(t.TempDir(), "devices.json")
	for name, write := range map[string]func() error{
		"no JSON":                func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		"keys of another device": func() error { _ = os.Remove(path); return Add(path, swapped) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFind(t *testing.T) {
	home, work, twin := newDevice(t, "home"), newDevice(t, "work"), newDevice(t, "work")
	list := []Device{home, work, twin}
	tests := []struct {
		name string
		want ident.ID
		err  error
	}{
		{home.ID.String(), home.ID, nil},
		{home.ID.String()[:12], home.ID, nil},
		{"home", home.ID, nil},
		{"work", ident.ID{}, shortid.ErrAmbiguous},
		{work.ID.String(), work.ID, nil},
		{"dev_", ident.ID{}, shortid.ErrUnknown},
		{"", ident.ID{}, shortid.ErrUnknown},
		{"elsewhere", ident.ID{}, shortid.ErrUnknown},
	}
	for _, test := range tests {
		got, err := Find(list, test.name)
		if got.ID != test.want || !errors.Is(err, test.err) {
			t.Errorf("Find(%q) = %s, %v", test.name, got.ID, err)
		}
	}
}
