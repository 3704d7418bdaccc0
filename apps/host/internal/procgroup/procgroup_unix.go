//go:build !windows

package procgroup

import (
	"os/exec"
	"syscall"
	"time"
)

// Terminate asks the whole group to end and insists after grace. It returns when
// the command has ended or was told for the last time.
func Terminate(cmd *exec.Cmd, ended <-chan struct{}, grace time.Duration) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may be gone already
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		Kill(cmd)
	}
}

// Kill ends whatever is left of the group, and on Linux of the session: a shell may
// have given its children groups of their own, and timeout gives itself one.
func Kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
	killSession(cmd.Process.Pid)
}
