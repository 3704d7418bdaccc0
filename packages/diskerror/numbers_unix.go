//go:build unix

package diskerror

import "syscall"

var (
	full     = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	readOnly = []syscall.Errno{syscall.EROFS}
)
