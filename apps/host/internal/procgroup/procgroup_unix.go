//go:build !windows

package procgroup

import (
	"os/exec"
	"syscall"
	"time"
)

// Terminate asks the whole group to exit and kills it after grace. It returns when the
// command has ended or the group was killed.
func Terminate(cmd *exec.Cmd, ended <-chan struct{}, grace time.Duration) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may already be gone
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		Kill(cmd)
	}
}

// Kill kills the rest of the group. On Linux it kills all descendants of the command, which
// includes everything it started if it is supervised, and the rest of its session: a shell
// may have given its children their own groups, and timeout creates one for itself.
func Kill(cmd *exec.Cmd) {
	killBelow(cmd.Process.Pid)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may already be gone
	killSession(cmd.Process.Pid)
}
