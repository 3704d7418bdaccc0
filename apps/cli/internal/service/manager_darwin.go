package service

import (
	"os"
	"path/filepath"
)

// Find returns the manager of this system for services of the user, or of the system.
func Find(bool) (Manager, error) {
	home, err := os.UserHomeDir()
	return launchd{system: "/Library/LaunchDaemons", user: filepath.Join(home, "Library", "LaunchAgents"), uid: os.Getuid()}, err
}
