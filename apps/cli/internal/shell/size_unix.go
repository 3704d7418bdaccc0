//go:build unix

package shell

import (
	"os"
	"os/signal"
	"syscall"
)

// resized reports new sizes of this terminal until stop is called.
func resized() (sizes <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
