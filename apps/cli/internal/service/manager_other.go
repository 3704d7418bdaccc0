//go:build !linux && !darwin && !windows

package service

import (
	"fmt"
	"runtime"
)

// Find returns the manager of this system for services of the user, or of the system.
func Find(bool) (Manager, error) {
	return nil, fmt.Errorf("services on %s are %w: run `scorel host serve` from its own service manager", runtime.GOOS, ErrUnsupported)
}
