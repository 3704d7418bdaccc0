package state

import (
	"fmt"
	"path/filepath"
	"strings"
)

// worktreesFile is the table [worktrees].
type worktreesFile struct {
	Folder string `toml:"folder"`
}

// folder returns the folder for worktrees: absolute, or below the user's home with "~/".
func (f worktreesFile) folder() (string, error) {
	if f.Folder != "" && !filepath.IsAbs(f.Folder) && !strings.HasPrefix(f.Folder, "~/") {
		return "", fmt.Errorf("worktrees.folder %q must be an absolute path, or begin with ~/", f.Folder)
	}
	return f.Folder, nil
}
