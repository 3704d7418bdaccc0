//go:build unix

package nobodytest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the number of the user and group without rights on Linux.
const nobody = 65534

// Rerun runs the test that calls it once more, as the user nobody, and fails unless it passes there.
// Only root can do so.
func Rerun(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "scorel-nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	program, err := os.ReadFile(os.Args[0])
	path := filepath.Join(dir, "nobody.test")
	if err := errors.Join(err, os.Chown(dir, nobody, nobody), os.WriteFile(path, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v: %s", err, out)
	}
}
