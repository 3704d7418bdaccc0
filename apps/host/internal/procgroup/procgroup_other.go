//go:build !windows && !linux

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own gives the command a process group, so that it can be stopped with its
// children.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killSession does nothing: the command has none of its own.
func killSession(int) {}
