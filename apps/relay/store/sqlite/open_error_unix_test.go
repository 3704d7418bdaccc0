//go:build unix

package sqlite

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/packages/nobodytest"
)

// A store on a full disk is not called damaged: who moves it away loses all bindings. A limit on the
// size of files stands for the disk; it concerns the whole process, so that nothing runs beside this
// test.
func TestAFullDiskIsNotCalledDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	err := withoutSpace(t, func() error {
		db, err := Open(t.Context(), path)
		if err == nil {
			_ = db.Close()
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "free some space") || strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v, want an error about the space on the disk", err)
	}
	if err := open(t, path).Close(); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// withoutSpace runs f while no file can grow.
func withoutSpace(t *testing.T, f func() error) error {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // writing fails instead of ending the process
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}()
	return f()
}

func TestMissingRightsAreNotCalledDamage(t *testing.T) {
	if os.Getuid() == 0 {
		nobodytest.Rerun(t)
		return
	}
	for name, modes := range map[string]struct{ file, folder os.FileMode }{
		"of the file":   {0o000, 0o700},
		"to write both": {0o400, 0o500},
		"to write it":   {0o400, 0o700},
		"of the folder": {0o600, 0o500},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "relay.db")
			if err := open(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			chmod(t, path, modes.file)
			chmod(t, filepath.Dir(path), modes.folder)
			defer chmod(t, filepath.Dir(path), 0o700)
			db, err := Open(t.Context(), path)
			if err == nil {
				_ = db.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "the right to write") || strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %v, want an error about the missing right", err)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
