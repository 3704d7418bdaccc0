//go:build linux

package sandbox_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
)

// TestCommandsEndByThemselves: when the group of a command is asked to exit, the command
// does so on its own, as without a sandbox, and what ignores the signal is killed with all
// its children.
func TestCommandsEndByThemselves(t *testing.T) {
	for _, test := range []struct {
		name, script, wantOut string
		grace                 time.Duration
	}{
		{"cleans up", `trap 'sleep 0.2; echo clean > cleaned; echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done`, "bye\n", time.Minute},
		{"does not listen", `(trap '' TERM; exec sleep 300) & trap '' TERM; echo ready; while :; do sleep 0.05; done`, "", 50 * time.Millisecond},
		{"has no trap", `echo ready; sleep 300`, "", time.Minute},
	} {
		for _, kind := range []sandbox.Kind{sandbox.Both, sandbox.Landlock, sandbox.None} {
			t.Run(test.name+" in "+string(kind), func(t *testing.T) {
				w := newWorld(t)
				s := detect(t, kind, sandbox.Config{Helper: w.helper, Network: true})
				out, code := stop(t, s, w, test.script, test.grace)
				if !strings.HasPrefix(out, test.wantOut) {
					t.Errorf("after it was asked to end it said %q, want %q", out, test.wantOut)
				}
				if test.name == "cleans up" {
					if text, err := os.ReadFile(filepath.Join(w.project, "cleaned")); err != nil || string(text) != "clean\n" || code != 7 {
						t.Errorf("it left %q, %v, with the exit code %d", text, err, code)
					}
				}
			})
		}
	}
}

// stop runs a script until it prints ready, asks it to exit, and returns its output after
// that. The end of its output proves that no process is left that holds it.
func stop(t *testing.T, s *sandbox.Sandbox, w world, script string, grace time.Duration) (said string, code int) {
	t.Helper()
	argv := s.Wrap([]string{"bash", "-c", script}, w.project)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = w.project
	procgroup.Own(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("it began with %q, %v", line, err)
	}
	ended, rest := make(chan struct{}), make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines) // whatever arrived counts
		rest <- string(text)
		_ = cmd.Wait() // ProcessState has the result
		close(ended)
	}()
	procgroup.Terminate(cmd, ended, grace)
	procgroup.Kill(cmd)
	<-ended
	return <-rest, cmd.ProcessState.ExitCode()
}

// detect returns a sandbox of a kind, or fails the test.
func detect(t *testing.T, kind sandbox.Kind, config sandbox.Config) *sandbox.Sandbox {
	t.Helper()
	if kind == sandbox.Landlock {
		t.Setenv("PATH", withoutBwrap(t))
	}
	config.Off = kind == sandbox.None
	s := sandbox.Detect(t.Context(), config)
	if got, note := s.Kind(); got != kind {
		t.Fatalf("this machine has %s (%s), the test needs %s: install bubblewrap", got, note, kind)
	}
	return s
}

// TestReachIsTrue: the reported limits are the actual ones.
func TestReachIsTrue(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, kind := range []sandbox.Kind{sandbox.Both, sandbox.Landlock, sandbox.None} {
		for _, network := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s network %v", kind, network), func(t *testing.T) {
				w := newWorld(t)
				config := sandbox.Config{Helper: w.helper, Network: network, Hidden: []string{w.hidden}}
				gone := filepath.Join(w.outside, "gone")
				config.Writable = []string{w.outside, gone}
				s := detect(t, kind, config)
				reach := s.Reach()
				_, err := run(t, s, w, nil, "exec 3<>/dev/tcp/127.0.0.1/"+port)
				if tcp := err == nil; tcp != (reach.Network == sandbox.NetworkOpen) {
					t.Errorf("the network is reported as %q, but TCP works: %v", reach.Network, tcp)
				}
				if kind == sandbox.Both && !network && reach.Network != sandbox.NetworkClosed {
					t.Errorf("the network is reported as %q", reach.Network)
				}
				if kind == sandbox.None {
					return
				}
				if _, err := run(t, s, w, nil, "echo secret > ../outside/new"); err != nil {
					t.Errorf("writing to a writable folder: %v", err)
				}
				if !slices.Equal(reach.Writable, []string{w.outside}) || !slices.Equal(reach.Missing, []string{gone}) || len(reach.Exposed) > 0 {
					t.Errorf("%+v", reach)
				}
			})
		}
	}
}

// TestHiddenInWritable: a writable folder may contain the hidden one. With bubblewrap it
// stays hidden; otherwise it is reported.
func TestHiddenInWritable(t *testing.T) {
	for _, kind := range []sandbox.Kind{sandbox.Both, sandbox.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			top := filepath.Dir(w.hidden)
			s := detect(t, kind, sandbox.Config{Helper: w.helper, Hidden: []string{w.hidden}, Writable: []string{top}})
			_, err := run(t, s, w, nil, "echo stolen >> "+w.hidden+"/key && [[ $(cat "+w.hidden+"/key) == secret* ]]")
			if reached := err == nil; reached != (len(s.Reach().Exposed) == 1) {
				t.Errorf("the hidden folder was changed: %v; reported is %+v", reached, s.Reach())
			}
		})
	}
}
