package diskerror

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var (
	full     = []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}
	readOnly = []syscall.Errno{windows.ERROR_WRITE_PROTECT}
)
