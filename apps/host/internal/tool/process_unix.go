//go:build !windows

package tool

import (
	"os/exec"
	"syscall"
	"time"
)

// terminate asks the whole group to end and insists after grace. It returns when
// the command has ended or was told for the last time.
func terminate(cmd *exec.Cmd, ended <-chan struct{}, grace time.Duration) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may be gone already
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		killGroup(cmd)
	}
}

// killGroup ends whatever is left of the group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
}
