package procgroup

import (
	"os/exec"
	"syscall"
)

// Own gives the command its own session, and with it a process group, so that it can be
// stopped with its children. The command is killed when this process dies, and has no
// terminal on which it could wait for input.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
