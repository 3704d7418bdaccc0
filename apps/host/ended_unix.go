//go:build unix

package host

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Ended reports whether a process of this machine has ended. A zombie has ended.
func Ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false // this system has no such file, or does not show it
	}
	_, rest, found := strings.Cut(string(stat), ") ")
	return found && strings.HasPrefix(rest, "Z")
}
