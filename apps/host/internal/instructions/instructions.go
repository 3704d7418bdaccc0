// Package instructions finds what people wrote down for agents: one file per
// folder, from the root of the repository to the working folder, after the user's
// own. In each folder AGENTS.override.md comes before AGENTS.md before CLAUDE.md.
//
// All files together have at most MaxBytes; where that is too little, those
// nearest to the working folder stay whole. A file of a repository that leads out
// of it by a symbolic link is left out: what is read here goes to a provider.
package instructions

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxBytes bounds the text of all files together.
const MaxBytes = 32 << 10

// names are the files that count, the first that is there in each folder.
func names() []string { return []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md"} }

// Load reads the instructions for work in cwd. userFile is the user's own; "" is
// none. Both are absolute. What cannot be read is noted, never an error.
func Load(cwd, userFile string) session.Instructions {
	l := loader{left: MaxBytes}
	folders := Folders(cwd)
	root := resolved(folders[len(folders)-1])
	for _, folder := range folders {
		for _, name := range names() {
			if l.take(filepath.Join(folder, name), root) {
				break
			}
		}
	}
	if userFile != "" {
		l.take(userFile, "")
	}
	slices.Reverse(l.found.Files)
	return l.found
}

// Folders returns cwd and the folders above it up to the root of its repository,
// innermost first; cwd alone where it is in no repository.
func Folders(cwd string) []string {
	var folders []string
	for folder := filepath.Clean(cwd); ; folder = filepath.Dir(folder) {
		folders = append(folders, folder)
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return folders
		}
		if filepath.Dir(folder) == folder {
			return []string{filepath.Clean(cwd)}
		}
	}
}

// loader reads files from the innermost outwards.
type loader struct {
	left  int // bytes
	found session.Instructions
}

func (l *loader) note(format string, args ...any) {
	l.found.Notes = append(l.found.Notes, fmt.Sprintf(format, args...))
}

// take reads a file that must lie below root, if root is not "". It tells whether
// the file counts, so that no other is looked for in its folder.
func (l *loader) take(path, root string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if root != "" && !Within(root, path) {
		l.note("%s leads out of the project and is not read", path)
		return false
	}
	text, cut, err := read(path, l.left)
	switch {
	case err != nil:
		l.note("%s cannot be read: %v", path, err)
		return false
	case text == "" && !cut:
		return false
	case cut:
		l.note("%s is cut: all instructions together may have %d KiB", path, MaxBytes>>10)
	}
	l.left -= len(text)
	l.found.Files = append(l.found.Files, session.InstructionFile{Path: path, Content: text, Truncated: cut})
	return true
}

// read returns at most limit bytes of a file, up to a line's end where one is near.
func read(path string, limit int) (text string, cut bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+utf8.UTFMax))
	if err != nil {
		return "", false, err
	}
	text = strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(data), "\uFEFF"), "\uFFFD"))
	if len(text) <= limit {
		return text, false, nil
	}
	text = text[:limit]
	for text != "" && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	if i := strings.LastIndexByte(text, '\n'); i > len(text)/2 {
		text = text[:i]
	}
	return text, true, nil
}

// Within tells whether path, with its symbolic links followed, lies in root, which
// has none.
func Within(root, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(relative)
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
