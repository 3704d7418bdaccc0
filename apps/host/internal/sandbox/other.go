//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// Detect finds none: there is a sandbox on Linux only.
func Detect(_ context.Context, config Config) *Sandbox {
	return &Sandbox{config: config, kind: None, note: "there is none for " + runtime.GOOS}
}

// Helper refuses: nothing starts commands through it here.
func Helper(_ []string, stderr io.Writer) int {
	_, _ = fmt.Fprintln(stderr, "scorel: there is no sandbox on", runtime.GOOS)
	return 126
}
