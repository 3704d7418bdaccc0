//go:build !windows

package tool

import "syscall"

// openNonblock keeps the open of a pipe from waiting for its other end.
const openNonblock = syscall.O_NONBLOCK
