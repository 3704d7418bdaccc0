package procgroup

import (
	"os/exec"
	"syscall"
)

// Own gives the command a session, and with it a process group, so that it can be
// stopped with its children, and lets it die with us. It has no terminal that it could
// wait at.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
