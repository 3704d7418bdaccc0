//go:build unix

package cli

import "syscall"

// detached starts a process in a session of its own, which neither the terminal's end nor its
// Ctrl+C reaches.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
