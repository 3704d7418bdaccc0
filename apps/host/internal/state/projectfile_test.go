package state

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFilesOfAHostileProject: a file of a project that leads to something endless is not read.
func TestFilesOfAHostileProject(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	if data, err := ReadProjectFile(path("none"), 4); data != nil || err != nil {
		t.Errorf("no file: %q, %v", data, err)
	}
	for name, content := range map[string]string{"fits": "four", "long": "fiver"} {
		if err := os.WriteFile(path(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := ReadProjectFile(path("fits"), 4); err != nil || !bytes.Equal(data, []byte("four")) {
		t.Errorf("%q, %v", data, err)
	}
	refused := map[string]string{"long": "larger than the limit", "folder": "not a file"}
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		for name, target := range map[string]string{"device": "/dev/zero", "status": "/proc/self/status"} {
			if err := os.Symlink(target, path(name)); err != nil {
				t.Fatal(err)
			}
		}
		refused["device"], refused["status"] = "not a file", "larger than the limit" // its size is 0
	}
	for name, want := range refused {
		if _, err := ReadProjectFile(path(name), 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
