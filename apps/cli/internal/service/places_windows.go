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
