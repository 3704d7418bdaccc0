//go:build !windows

package extension

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestAFileThatBecomesAPipe after the folder was listed is refused, and not waited for. So is one
// that another file takes the place of, with as many bytes as there are.
func TestAFileThatBecomesAPipe(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil { // a pipe has no size either
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	list, err := walk(root)
	if err != nil || len(list) != 1 {
		t.Fatalf("listed %v: %v", list, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	copied := make(chan error, 1)
	go func() {
		_, err := copyFile(root, list[0], nil)
		copied <- err
	}()
	select {
	case err := <-copied:
		if err == nil {
			t.Error("a pipe was copied")
		}
	case <-time.After(30 * time.Second):
		// Whoever opens the other end lets the goroutine end.
		if w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = w.Close()
		}
		<-copied
		t.Error("opening a pipe waits for its other end")
	}
}
