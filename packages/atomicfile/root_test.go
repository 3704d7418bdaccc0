package atomicfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/scorel/scorel/packages/atomicfile"
)

// TestWriteInStaysInTheFolder: the folder is the one that was opened, also when another
// has taken its name, and a link of the file's name is replaced.
func TestWriteInStaysInTheFolder(t *testing.T) {
	dir := t.TempDir()
	was, is := filepath.Join(dir, "was"), filepath.Join(dir, "is")
	if err := os.Mkdir(was, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(was)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := os.WriteFile(filepath.Join(dir, "other"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../other", filepath.Join(was, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(was, "script"), []byte("old"), 0o750); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" { // which renames no open folder
		if err := os.Rename(was, is); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(was, 0o755); err != nil {
			t.Fatal(err)
		}
		was, is = is, was
	}
	for _, name := range []string{"new", "link", "script"} {
		if err := atomicfile.WriteIn(root, name, []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(was, name)); got != "text of "+name {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := read(t, filepath.Join(dir, "other")); got != "other" {
		t.Errorf("the link's target is %q", got)
	}
	if info, err := os.Stat(filepath.Join(was, "script")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode of the file is %v, %v", info.Mode(), err)
	}
	if len(names(t, was)) != 3 {
		t.Errorf("there are %v", names(t, was))
	}
}
