package instructions

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxNestedBytes bounds the text of one instruction file below the working folder.
const MaxNestedBytes = 8 << 10

// Nested finds the instructions for a file below cwd, in the folders between the two,
// outermost first, not including cwd itself. Both are absolute. Files for which has returns
// true are left out, and so are unreadable files and those that a symbolic link leads out
// of cwd.
func Nested(cwd, file string, has func(path string) bool) []session.InstructionFile {
	root := resolved(cwd)
	relative, err := filepath.Rel(root, filepath.Dir(resolved(file)))
	if err != nil || relative == "." || !filepath.IsLocal(relative) {
		return nil
	}
	var found []session.InstructionFile
	folder := filepath.Clean(cwd)
	for _, part := range strings.Split(relative, string(filepath.Separator)) {
		folder = filepath.Join(folder, part)
		known := func(name string) bool { return has(filepath.Join(folder, name)) }
		if slices.ContainsFunc(names(), known) {
			continue
		}
		l := loader{left: MaxNestedBytes}
		for _, name := range names() {
			if l.take(filepath.Join(folder, name), root) {
				break
			}
		}
		found = append(found, l.found.Files...)
	}
	return found
}
