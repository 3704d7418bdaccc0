package gitrepo

import (
	"os/exec"
	"syscall"
)

// dieWith has the command killed when this process dies.
func dieWith(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
