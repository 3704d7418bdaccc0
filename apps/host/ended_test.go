//go:build unix

package host_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host"
)

// TestAProcessThatLivesHasNotEnded: a host that gave back its lock may still run.
func TestAProcessThatLivesHasNotEnded(t *testing.T) {
	if host.Ended(os.Getpid()) {
		t.Error("this process has ended")
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if host.Ended(child.Process.Pid) {
		t.Error("a process that was stopped has ended")
	}
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if !host.Ended(child.Process.Pid) {
		t.Error("a process that was waited for has not ended")
	}
}
