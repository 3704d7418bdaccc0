//go:build !linux && !darwin && !windows

package awake

// System returns the inhibitor of this system: that of systems with systemd-logind or a service
// like it.
func System() Inhibitor { return logind{} }
