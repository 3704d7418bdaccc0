//go:build !linux

package procgroup

import "errors"

// Supervise does nothing: this system cannot reparent orphans to a chosen process.
func Supervise([]string) (int, error) { return 0, errors.New("commands are supervised on Linux only") }
