package procgroup

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// supervisorKind runs this program as the supervisor of a command.
const supervisorKind = "supervisor"

// daemons leave the session and the environment of the command that starts them, and become
// orphans. They hold its output open, so its end means that all of them have ended.
const daemons = `
	(setsid env -i sleep 600 &)
	(setsid bash -c 'trap "" TERM HUP INT; env -i setsid sleep 600 & while :; do sleep 600; done' &)
	echo ready
`

// supervised starts a command under a supervisor, and waits until it is ready.
func supervised(t *testing.T, cmd *exec.Cmd, start func() error) (output *bufio.Reader) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = start()
	}
	if err != nil {
		t.Fatal(err)
	}
	output = bufio.NewReader(out)
	if line, err := output.ReadString('\n'); line != "ready\n" {
		t.Fatalf("it said %q, %v", line, err)
	}
	return output
}

func supervisor(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "bash", "-c", script)
	cmd.Env = append(os.Environ(), childEnv+"="+supervisorKind)
	cmd.Stderr = os.Stderr
	return cmd
}

// allEnded waits for the end of the output, and so of every process that holds it.
func allEnded(t *testing.T, output io.Reader) {
	t.Helper()
	if _, err := io.Copy(io.Discard, output); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

// TestNoDaemonOutlivesItsCommand: processes that left the session and the group of a
// command end with it nevertheless.
func TestNoDaemonOutlivesItsCommand(t *testing.T) {
	for name, c := range map[string]struct {
		last string
		want int
	}{
		"it ends": {"exit 5", 5}, "it is killed": {"kill -KILL $$", signalled + 9},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := supervisor(t, daemons+c.last)
			output := supervised(t, cmd, func() error { Own(cmd); return cmd.Start() })
			allEnded(t, output)
			_ = cmd.Wait() // the exit code is checked
			if got := cmd.ProcessState.ExitCode(); got != c.want {
				t.Errorf("the exit code is %d, want %d", got, c.want)
			}
		})
	}
}

// TestNoDaemonOutlivesATimeout: a command that is stopped leaves no daemon.
func TestNoDaemonOutlivesATimeout(t *testing.T) {
	cmd := supervisor(t, daemons+"trap '' TERM; while :; do sleep 600; done")
	output := supervised(t, cmd, func() error { Own(cmd); return cmd.Start() })
	ended := make(chan struct{})
	Terminate(cmd, ended, time.Millisecond)
	allEnded(t, output)
	_ = cmd.Wait() // it was killed
	close(ended)
}

// TestNoDaemonOutlivesAKilledHost: the supervisor notices and kills everything; no other
// host follows.
func TestNoDaemonOutlivesAKilledHost(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.CommandContext(t.Context(), program, filepath.Join(t.TempDir(), "commands"), daemons+"sleep 600", "supervised")
	host.Env = append(os.Environ(), childEnv+"=starter")
	in, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	output := supervised(t, host, host.Start)
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	allEnded(t, output)
	_ = host.Wait() // it was killed
}

// TestAKilledSupervisorIsNoWayOut: without a sandbox, a command may kill its supervisor.
// Processes that bear the command's mark are killed nevertheless.
func TestAKilledSupervisorIsNoWayOut(t *testing.T) {
	l, err := OpenLedger(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := supervisor(t, "(setsid sleep 600 &); echo ready; kill -KILL $PPID; sleep 600")
	var forget func()
	output := supervised(t, cmd, func() (err error) { forget, err = l.Start(cmd, Owner{Call: "c"}); return err })
	if _, err := cmd.Process.Wait(); err != nil {
		t.Error(err)
	}
	forget()
	allEnded(t, output)
}
