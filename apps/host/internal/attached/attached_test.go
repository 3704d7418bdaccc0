package attached

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestStore(t *testing.T) {
	dir, data := filepath.Join(t.TempDir(), "scratch", "s1"), []byte("%PDF\x00\r\n")
	if _, _, err := Find(dir, hashOf(data), "a.pdf"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before it is stored: %v", err)
	}
	path, err := Store(dir, hashOf(data), "a.pdf", data, 100)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) || filepath.Base(path) != "a.pdf" {
		t.Errorf("%s holds %q, %v", path, got, err)
	}
	if found, size, err := Find(dir, hashOf(data), "a.pdf"); err != nil || found != path || size != int64(len(data)) {
		t.Errorf("found %s of %d bytes, %v", found, size, err)
	}
	// One that the agent has changed is the person's again.
	if err := os.WriteFile(path, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, err := Store(dir, hashOf(data), "a.pdf", data, 100); err != nil || again != path {
			t.Errorf("again: %s, %v", again, err)
		}
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, data) {
		t.Errorf("again it holds %q", got)
	}
	// So is one that it has made larger than the memory, and than the limit.
	if err := os.Truncate(path, 1<<42); err != nil {
		t.Fatal(err)
	}
	if again, err := Store(dir, hashOf(data), "a.pdf", data, 100); err != nil || again != path {
		t.Errorf("the large file is replaced at %s, %v", again, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != int64(len(data)) {
		t.Errorf("the large file is now %+v, %v", info, err)
	}
	if _, err := Store(dir, hashOf([]byte("b")), "a.pdf", make([]byte, 95), 100); !errors.Is(err, ErrFull) {
		t.Errorf("over the limit: %v", err)
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
	if _, _, err := Find(dir, hashOf(data), "a.pdf"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the removal: %v", err)
	}
}

// TestTwoPromptsStoreTheSameFile at once, and what a killed host left of it is removed.
func TestTwoPromptsStoreTheSameFile(t *testing.T) {
	dir, data := t.TempDir(), bytes.Repeat([]byte("page\n"), 50_000)
	hash := hashOf(data)
	left := filepath.Join(dir, folder, hash[:16], "a.pdf.KILLED.part")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-2*staleAfter)); err != nil {
		t.Fatal(err)
	}
	var storing sync.WaitGroup
	for range 8 {
		storing.Go(func() {
			path, err := Store(dir, hash, "a.pdf", data, int64(len(data)))
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s holds %d bytes, %v", path, len(got), err)
			}
		})
	}
	storing.Wait()
	if list, err := os.ReadDir(filepath.Dir(left)); err != nil || len(list) != 1 {
		t.Errorf("the folder has %v, %v", list, err)
	}
}

// TestNoLinkLeadsOut: the agent can write to the folder.
func TestNoLinkLeadsOut(t *testing.T) {
	dir, outside, data := t.TempDir(), t.TempDir(), []byte("secret")
	if err := os.Symlink(outside, filepath.Join(dir, folder)); err != nil {
		t.Fatal(err)
	}
	if path, err := Store(dir, hashOf(data), "a", data, 100); err == nil {
		t.Errorf("stored at %s", path)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("the removal followed the link: %v", err)
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"report.pdf": "report.pdf", "../../etc/passwd": "passwd", `C:\x\a b.txt`: "a_b.txt", "..": "file", "": "file",
		".bashrc": "bashrc", "-rf": "rf", "a\nb\x1b[2J.log": "a_b__2J.log", "Bericht ä 京.md": "Bericht_ä_京.md", "x\xff": "x_",
		"$(rm -rf ~)": "__rm_-rf___", strings.Repeat("é", 100) + ".tar": strings.Repeat("é", 58) + ".tar",
	} {
		if got := CleanName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	if _, err := placeOf("../../"+strings.Repeat("a", 58), "x"); err == nil {
		t.Error("a hash may be a path")
	}
}
