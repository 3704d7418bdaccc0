package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMkdirAll(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b", "c")
	for range 2 { // one that exists is fine
		if err := MkdirAll(deep, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(deep); err != nil || !info.IsDir() {
		t.Errorf("%v %v", info, err)
	}
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(filepath.Join(file, "x"), 0o700); err == nil {
		t.Error("a folder in a file is made")
	}
	if err := SyncDir(filepath.Join(top, "none")); err != nil && !errors.Is(err, fs.ErrNotExist) { // Windows syncs by itself
		t.Error(err)
	}
}
