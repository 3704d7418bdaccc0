package procgroup

import (
	"os/exec"
	"syscall"
)

// Own gives the command a process group, so that it can be stopped with its
// children, and lets it die with us.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
