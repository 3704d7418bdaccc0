package procgroup

import (
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Own keeps the signals of our own console away from the command.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Terminate stops the command with its children at once: there is no signal that
// asks.
func Terminate(cmd *exec.Cmd, _ <-chan struct{}, _ time.Duration) { Kill(cmd) }

// Kill ends the command and the tree below it, as far as it still hangs
// together.
func Kill(cmd *exec.Cmd) {
	kill := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
	_ = kill.Run() // it may be gone already
}
