// Package machine looks at the machine for the host: where links lead, what exists, and what
// git would run. It decides nothing.
package machine

import (
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/state"
)

// UserHome is the home folder of the user who runs the host, or the root of the file system.
func UserHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return string(filepath.Separator)
	}
	return home
}

// RunsAsRoot reports whether the host has the rights of root.
func RunsAsRoot() bool { return os.Geteuid() == 0 }

// ReadableParts are the folders of the home of scorel that tools may read, with links
// resolved. A link that leads out of the home, or to the home itself, is not one.
func ReadableParts(paths state.Paths) []string {
	home := ResolveLinks(paths.Home)
	var parts []string
	for _, part := range paths.Readable() {
		part = ResolveLinks(part)
		if rel, err := filepath.Rel(home, part); err == nil && rel != "." && filepath.IsLocal(rel) {
			parts = append(parts, part)
		}
	}
	return parts
}
