package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLongOutputLeadsNowhere: commands can write to the folder for long output and put a
// link there. The host, which is not sandboxed, neither writes nor deletes anything through
// it.
func TestLongOutputLeadsNowhere(t *testing.T) {
	dir := project(t, map[string]string{"documents/letter.txt": "dear", "scratch/x": ""})
	letter := filepath.Join(dir, "documents", "letter.txt")
	old := time.Now().AddDate(-1, 0, 0)
	if err := os.Chtimes(letter, old, old); err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(dir, "scratch")
	if err := os.Symlink(filepath.Dir(letter), filepath.Join(scratch, "output")); err != nil {
		t.Fatal(err)
	}
	set := open(t, Options{}, Scope{Scratch: scratch})
	text := set.call(t, dir, "bash", map[string]any{"command": "seq 1 200000"}).Content.Plain()
	if !strings.Contains(text, "200000") {
		t.Errorf("the command did not run: %.200s", text)
	}
	entries, err := os.ReadDir(filepath.Dir(letter))
	if err != nil || len(entries) != 1 || entries[0].Name() != "letter.txt" {
		t.Errorf("the link's target has %v, %v", entries, err)
	}
}

// TestLongOutputIsBounded: the oldest files are deleted above the limit on bytes.
func TestLongOutputIsBounded(t *testing.T) {
	s := spill{dir: t.TempDir()}
	var first string
	for i := range maxSpilled/maxSpill + 2 {
		file, err := s.create("bash")
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(maxSpill); err != nil { // a sparse file
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(file.Name(), at, at); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = file.Name()
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, spillFolder))
	if err != nil || len(entries) > maxSpilled/maxSpill {
		t.Errorf("%d files are kept, %v", len(entries), err)
	}
	if _, err := os.Stat(first); err == nil {
		t.Error("the oldest is still there")
	}
}
