//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// Detect finds none: sandboxes are supported only on Linux.
func Detect(_ context.Context, config Config) *Sandbox {
	return &Sandbox{config: config, kind: None, note: "sandboxes are not supported on " + runtime.GOOS}
}

// Helper fails: nothing starts commands through it on this system.
func Helper(_ []string, stderr io.Writer) int {
	_, _ = fmt.Fprintln(stderr, "scorel: sandboxes are not supported on", runtime.GOOS)
	return 126
}
