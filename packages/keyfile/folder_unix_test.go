//go:build unix

package keyfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

func TestAFolderOfOthersIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "identity.json")
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreate(path, ident.KindDevice); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Fatalf("keys are made where everybody can write: %v", err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreate(path, ident.KindDevice); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o1777); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreate(path, ident.KindDevice); err == nil {
		t.Fatal("keys are read where everybody can write")
	}
	if os.Geteuid() == 0 { // who else could give it away
		if err := os.Chown(folder, 4321, -1); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	owner, _ := ownerOf(info)
	for user, want := range map[int]bool{owner: false, 0: false, owner + 1: owner != 0} {
		if got := ofAnother(info, user); got != want {
			t.Errorf("for the user %d: %v, want %v", user, got, want)
		}
	}
}
