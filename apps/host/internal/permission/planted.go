package permission

import (
	"path/filepath"
	"slices"
	"strings"
)

// hookFolders are the usual names for core.hooksPath.
var hookFolders = []string{".husky", ".githooks", ".git-hooks"}

// runByGit reports whether writing to an absolute path can make git run something, although
// the path may not be below .git: in a folder of hooks, or in a bare repository, whose
// settings git reads in its folder. Git recognizes such a folder by its file HEAD, so that
// writing HEAD counts, and everything next to and below an existing one.
func (p Policy) runByGit(full string) bool {
	if gitControl(full) || strings.EqualFold(filepath.Base(full), "HEAD") {
		return true
	}
	for folder := filepath.Dir(full); within(p.Dir, folder); folder = filepath.Dir(folder) {
		if slices.Contains(hookFolders, strings.ToLower(filepath.Base(folder))) {
			return true
		}
		if there, isFolder := p.there(filepath.Join(folder, "HEAD")); there && !isFolder {
			return true
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	return false
}
