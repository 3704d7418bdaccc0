//go:build !windows

package service

import "runtime"

// SystemRelay returns the places of a relay that runs as a system service under a user of its own;
// ok is false where it runs as a named user, with that user's home. On Linux systemd makes them.
func SystemRelay() (data, log string, ok bool) {
	if runtime.GOOS != "linux" {
		return "", "", false
	}
	return "/var/lib/scorel-relay", "/var/log/scorel-relay/relay.log", true
}

// ProgramFolders returns folders whose programs such a relay cannot run, because they are homes of
// users, and one that everybody can read.
func ProgramFolders() (private []string, shared string) {
	return []string{"/home", "/root"}, "/usr/local/bin"
}
