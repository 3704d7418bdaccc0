package gitrepo

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestChangesInTheSecondOfTheIndex are seen although neither size nor time of the file tells: git
// compares the content then, and so does a view.
func TestChangesInTheSecondOfTheIndex(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one\n"})
	at := time.Now().Add(-time.Minute).Truncate(time.Second)
	stamp := func(path string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(dir, path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	stamp("a.txt")
	// Only the time of modification counts: the test cannot set the other one.
	bash(t, dir, "git init -q -b main && git config core.trustctime false && git add . && git commit -qm first")
	stamp(".git/index")
	write(t, filepath.Join(dir, "a.txt"), "two\n")
	stamp("a.txt")
	repo := Find(dir, none)
	if repo == nil {
		t.Fatal("no repository")
	}
	v, err := NewView(t.Context(), t.TempDir(), dir, repo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	files, _, err := v.Status(t.Context(), 10)
	if err != nil || len(files) != 1 {
		t.Errorf("the status is %+v, %v", files, err)
	}
}
