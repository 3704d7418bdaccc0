//go:build !windows

package mcp_test

import (
	"os/signal"
	"syscall"
	"time"
)

// deaf blocks forever and ignores all requests to exit; it must be killed.
func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	for {
		time.Sleep(time.Hour) // not every Unix has pause
	}
}
