package cli

import "syscall"

// detachedProcess is DETACHED_PROCESS of the Windows API.
const detachedProcess = 0x00000008

// detached starts a process without this console, whose end and Ctrl+C do not reach it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
