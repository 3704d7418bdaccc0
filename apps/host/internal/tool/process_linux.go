package tool

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the command a process group, so that it can be stopped with its
// children, and lets it die with us.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
