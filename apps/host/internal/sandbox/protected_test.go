//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sandbox"
)

// TestProtectedFoldersStay read-only below a writable one, while the command's own folder and
// those that are opened below them can be written to.
func TestProtectedFoldersStay(t *testing.T) {
	w := newWorld(t)
	top := filepath.Dir(w.project)
	trees, main := filepath.Join(top, "a", "trees"), filepath.Join(top, "a", "b", "main")
	git, cache := filepath.Join(main, ".git"), filepath.Join(main, "cache")
	w.project = filepath.Join(trees, "mine")
	for _, dir := range []string{w.project, filepath.Join(trees, "other"), filepath.Join(git, "hooks"), cache} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(main, "f"), []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := detect(t, sandbox.Both, sandbox.Config{Helper: w.helper, Writable: []string{top, cache}})
	plain := "echo x > " + main + "/new"
	if out, err := run(t, s, w, nil, plain+" && rm "+main+"/new"); err != nil {
		t.Fatalf("without protection: %v %s", err, out)
	}
	guarded := s.Protect(trees, main, filepath.Join(top, "gone"))
	for script, want := range map[string]bool{
		plain: false, "rm " + main + "/f": false, "chmod 600 " + main + "/f": false, "mv " + main + " " + top + "/main": false,
		"mv " + top + "/a/b " + top + "/b": false, "mv " + top + "/a " + top + "/moved": false, "rm -rf " + top + "/a/b/main/f": false,
		"echo x > " + trees + "/other/x": false, "mkdir " + trees + "/new": false, "mv " + w.project + " " + top + "/mine": false,
		"echo x > made && mkdir -p d && mv made d/": true, "echo x > " + git + "/x": true, "echo x > " + git + "/hooks/post-commit": false,
		"echo x > " + cache + "/x": true, "echo x > " + top + "/a/b/beside && mkdir " + top + "/a/beside": true,
	} {
		if out, err := runIn(t, guarded, w.project, git, nil, script); (err == nil) != want {
			t.Errorf("%q: %v %s", script, err, out)
		}
	}
	if data, err := os.ReadFile(filepath.Join(main, "f")); err != nil || string(data) != "kept" {
		t.Errorf("the file is %q, %v", data, err)
	}
}
