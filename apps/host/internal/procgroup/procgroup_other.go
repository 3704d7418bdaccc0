//go:build !windows && !linux

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own gives the command its own process group, so that it can be stopped with its children.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killSession does nothing: the command has no session of its own.
func killSession(int) {}

// killBelow does nothing: processes that left the group cannot be found on this system.
func killBelow(int) {}
