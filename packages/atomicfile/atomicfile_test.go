package atomicfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/atomicfile"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "", "three, longer than before"} {
		if err := atomicfile.Write(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != content {
			t.Errorf("content = %q, want %q", got, content)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v, want the file alone", got)
	}
}

func TestWriteMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no permission bits there
	}
	path := filepath.Join(t.TempDir(), "f")
	mode := func() fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if err := atomicfile.Write(path, []byte("a"), 0o600); err != nil || mode() != 0o600 {
		t.Fatalf("new file: mode %v, error %v", mode(), err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("b"), 0o600); err != nil || mode() != 0o600 {
		t.Errorf("replaced file: mode %v, error %v", mode(), err)
	}
}

func TestWriteSymlink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, []byte("y"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link was kept: %v %v", info.Mode(), err)
	}
	if got := read(t, real); got != "x" {
		t.Errorf("target changed to %q", got)
	}
}

func TestWriteErrorsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "folder"), []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	err := atomicfile.Write(filepath.Join(dir, "none", "f"), []byte("x"), 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder has %v, want only the earlier one", got)
	}
}

// A reader beside writers sees whole contents only.
func TestWriteIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 3<<16)}
	if err := atomicfile.Write(path, contents[0], 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, contents[i], 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if got := []byte(read(t, path)); !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("read a mixture of %d bytes", len(got))
		}
	}
}

func TestCreateKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := atomicfile.Create(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create(path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("got %v, want fs.ErrExist", err)
	}
	if got := read(t, path); got != "first" {
		t.Fatalf("the file holds %q", got)
	}
	if left := names(t, dir); len(left) != 1 {
		t.Fatalf("left behind: %v", left)
	}
}
