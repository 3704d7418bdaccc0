package instructions

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxNestedBytes bounds the text of one file of a folder below the working folder.
const MaxNestedBytes = 8 << 10

// Nested finds what was written down for a file below cwd, in the folders between the
// two, outermost first: those of cwd itself are not among them. Both are absolute. What
// has knows is left out; so is what a symbolic link leads out of cwd, and what cannot be
// read.
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
