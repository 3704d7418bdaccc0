//go:build !windows && !linux

package tool

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the command a process group, so that it can be stopped with its
// children.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
