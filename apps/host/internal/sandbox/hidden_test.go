//go:build linux

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sandbox"
)

// TestAProjectAboveDoesNotUncover: where the project is a home folder, what is hidden lies
// in what is written to.
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

// TestNobodyOutsideIsTold: who is told over a socket to run a command runs it outside of
// the sandbox.
func TestNobodyOutsideIsTold(t *testing.T) {
	w := newWorld(t)
	runtime, terminals := filepath.Join(w.outside, "run"), filepath.Join(w.project, "tmp")
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMUX_TMPDIR", terminals)
	sockets := []string{
		filepath.Join(runtime, "bus"), filepath.Join(runtime, "systemd", "private"), filepath.Join(terminals, fmt.Sprintf("tmux-%d", os.Getuid()), "default"),
	}
	for _, path := range sockets {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
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
