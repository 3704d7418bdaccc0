//go:build !linux

package gitrepo

import "os/exec"

// dieWith does nothing: the system cannot do it.
func dieWith(*exec.Cmd) {}
