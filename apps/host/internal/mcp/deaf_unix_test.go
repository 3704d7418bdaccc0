//go:build !windows

package mcp_test

import (
	"os/signal"
	"syscall"
)

// deaf blocks for ever, whatever it is asked; it takes a kill.
func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	for {
		syscall.Pause()
	}
}
