package procgroup

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Seclude keeps other processes of the same user from reading the environment and the
// memory of this one, and from tracing it. Commands that it starts are not protected. Root
// can still read.
func Seclude() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("procgroup: protecting this process: %w", err)
	}
	return nil
}
