package procgroup

import (
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Own protects the command from signals of our console.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Terminate kills the command with its children immediately: Windows has no signal that
// asks a process to exit.
func Terminate(cmd *exec.Cmd, _ <-chan struct{}, _ time.Duration) { Kill(cmd) }

// Kill kills the command and its descendants, as far as they are still connected to it.
func Kill(cmd *exec.Cmd) {
	kill := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
	_ = kill.Run() // it may already be gone
}
