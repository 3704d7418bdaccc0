package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLongOutputLeadsNowhere: commands can write to the folder that long output goes to, and
// put a link there. The host, which is in no sandbox, neither writes nor tidies behind it.
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
		t.Errorf("behind the link there are %v, %v", entries, err)
	}
}

// TestLongOutputIsBounded: the oldest files go when there are too many bytes.
func TestLongOutputIsBounded(t *testing.T) {
	s := spill{dir: t.TempDir()}
	var first string
	for i := range maxSpilled/maxSpill + 2 {
		file, err := s.create("bash")
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(maxSpill); err != nil { // without the bytes on the disk
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
