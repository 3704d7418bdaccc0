//go:build linux

package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sandbox"
)

// TestAProjectAboveDoesNotUncover: if the project is a home folder, the hidden folder is
// inside a writable one.
func TestAProjectAboveDoesNotUncover(t *testing.T) {
	for name, who := range users() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			skill := filepath.Join(w.hidden, "skills", "s.sh")
			for _, dir := range []string{filepath.Dir(skill)} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(skill, []byte("echo ran\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			s := sandbox.Detect(t.Context(), sandbox.Config{
				Helper: w.helper, Network: true, Hidden: []string{w.hidden}, Readable: []string{filepath.Join(w.hidden, "skills"), filepath.Join(w.hidden, "gone")},
			})
			if got, note := s.Kind(); got != sandbox.Both {
				t.Fatalf("this machine has %s (%s): install bubblewrap", got, note)
			}
			above := w
			above.project = filepath.Dir(w.project)
			for _, at := range []world{w, above} {
				for script, want := range map[string]bool{
					"cat " + w.hidden + "/key":                       false,
					"echo x > " + w.hidden + "/key; cat ../gone":     false,
					"bash " + skill:                                  true,
					"cat " + w.hidden + "/skills/s.sh":               true,
					"echo x > " + skill:                              false,
					"touch " + w.hidden + "/skills/new":              false,
					"rm -r " + w.hidden + "/skills":                  false,
					"echo x > " + w.hidden + "/open/x":               true,
					"mkdir -p made && echo x > made/y && rm -r made": true,
				} {
					if out, err := run(t, s, at, who, script); (err == nil) != want {
						t.Errorf("in %s: %q: %v %s", at.project, script, err, out)
					}
				}
			}
			for path, want := range map[string]string{filepath.Join(w.hidden, "key"): "secret", skill: "echo ran\n"} {
				if data, err := os.ReadFile(path); err != nil || string(data) != want {
					t.Errorf("%s is %q, %v", path, data, err)
				}
			}
		})
	}
}

// listenIn listens on a socket in a folder that only its owner may enter. If the test does
// not run as root, the owner stays the same.
func listenIn(t *testing.T, path string, owner int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	if os.Getuid() == 0 {
		err = os.Chown(filepath.Dir(path), owner, -1)
	}
	if err := errors.Join(err, os.Chmod(filepath.Dir(path), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// TestCommandsReachNoSocketOutside: a program that is asked over a socket to run a command runs it
// outside the sandbox.
func TestCommandsReachNoSocketOutside(t *testing.T) {
	w := newWorld(t)
	runtime, terminals := filepath.Join(w.outside, "run"), filepath.Join(w.project, "tmp")
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMUX_TMPDIR", terminals)
	sockets := []string{
		filepath.Join(runtime, "bus"), filepath.Join(runtime, "systemd", "private"), filepath.Join(terminals, fmt.Sprintf("tmux-%d", os.Getuid()), "default"),
	}
	for _, path := range sockets {
		listenIn(t, path, os.Getuid())
	}
	s := sandbox.Detect(t.Context(), sandbox.Config{Helper: w.helper, Network: true})
	if got, note := s.Kind(); got != sandbox.Both {
		t.Fatalf("this machine has %s (%s): install bubblewrap", got, note)
	}
	for _, path := range sockets {
		if out, err := run(t, s, w, nil, "[ -e "+path+" ] && [ ! -S "+path+" ]"); err != nil {
			t.Errorf("%s can be reached: %v %s", path, err, out)
		}
		if out, err := run(t, s, w, nil, "rm -f "+path+"; [ -S "+path+" ]"); err == nil {
			t.Errorf("%s can be uncovered: %s", path, out)
		}
	}
}

// TestGitFolderStays: nothing can replace what git reads.
func TestGitFolderStays(t *testing.T) {
	w := newWorld(t)
	git := filepath.Join(w.project, ".git")
	if err := os.MkdirAll(filepath.Join(git, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := detect(t, sandbox.Both, sandbox.Config{Helper: w.helper})
	for script, want := range map[string]bool{
		"mv .git old": false, "rmdir .git/hooks; mv .git/hooks x": false, "echo x > .git/hooks/pre-commit": false, "echo x > .git/config": true,
	} {
		if out, err := run(t, s, w, nil, script); (err == nil) != want {
			t.Errorf("%q: %v %s", script, err, out)
		}
	}
	if err := os.RemoveAll(git); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(git, []byte("gitdir: /elsewhere"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, s, w, nil, "echo x > .git || mv .git old"); err == nil {
		t.Errorf("the file of a worktree was replaced: %s", out)
	}
}
