package service

import (
	"os"
	"path/filepath"
)

// SystemRelay returns the places of a relay that runs as a system service under a user of its own;
// ok is false where it runs as a named user, with that user's home.
func SystemRelay() (data, log string, ok bool) {
	folder := filepath.Join(os.Getenv("ProgramData"), "scorel-relay")
	return folder, filepath.Join(folder, "relay.log"), true
}

// ProgramFolders returns folders whose programs such a relay cannot run, because they are homes of
// users, and one that everybody can read. install.ps1 installs below the home.
func ProgramFolders() (private []string, shared string) {
	if home, err := os.UserHomeDir(); err == nil {
		private = []string{filepath.Dir(home)}
	}
	return private, filepath.Join(os.Getenv("ProgramFiles"), "scorel")
}
