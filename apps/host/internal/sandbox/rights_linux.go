package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// dropCapabilities drops every capability of this thread, and the ability to regain one by
// executing a program. Only root has any to begin with.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("disabling new privileges: %w", err)
	}
	for capability := uintptr(0); ; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) { // past the last capability
			break
		}
		if errors.Is(err, unix.EPERM) { // a process that may not drop any has none, which is checked below
			break
		}
		if err != nil {
			return fmt.Errorf("dropping a capability: %w", err)
		}
	}
	// A kernel without ambient capabilities has none to clear.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("dropping ambient capabilities: %w", err)
	}
	return setCapabilities([2]unix.CapUserData{})
}

func setCapabilities(data [2]unix.CapUserData) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("setting capabilities: %w", err)
	}
	return nil
}

// reachable returns the paths that commands in the sandbox could open. They have no
// capabilities, so not even root can look into the folders of others there. Unreachable
// paths need no cover, and bubblewrap could not create one.
func reachable(paths []string) (reached []string, err error) {
	var before [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&header, &before[0]); err != nil {
		return nil, fmt.Errorf("reading capabilities: %w", err)
	}
	without := before
	for i := range without {
		without[i].Effective = 0
	}
	if err := setCapabilities(without); err != nil {
		return nil, err
	}
	for _, path := range paths {
		var info unix.Stat_t
		if unix.Stat(path, &info) == nil {
			reached = append(reached, path)
		}
	}
	return reached, setCapabilities(before)
}
