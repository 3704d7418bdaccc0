//go:build !linux

package procgroup

// Seclude does nothing: this system has no such protection for a single process.
func Seclude() error { return nil }
