// Package instructions finds instruction files for agents: one per folder, from the root of
// the repository to the working folder, after the user's own file. Outside of a repository,
// the user's home folder replaces the root. In each folder AGENTS.override.md takes
// precedence over AGENTS.md, and that over CLAUDE.md.
//
// All files together have at most MaxBytes. If that is exceeded, the files nearest to the
// working folder stay whole. A file of a repository that a symbolic link leads out of it is
// left out, because the text is sent to a provider.
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

// MaxBytes bounds the combined text of all files.
const MaxBytes = 32 << 10

// names returns the names of instruction files. The first that exists in a folder is used.
func names() []string { return []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md"} }

// Load reads the instructions for work in cwd. userFile is the user's own file and home
// their home folder; "" means none. All paths are absolute. Unreadable files cause a note,
// never an error.
func Load(cwd, userFile, home string) session.Instructions {
	l := loader{left: MaxBytes}
	folders := Folders(cwd)
	if len(folders) == 1 && home != "" && !isRepository(cwd) {
		folders = upTo(cwd, home)
	}
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

// Folders returns cwd and its parents up to the root of its repository, innermost first.
// Outside of a repository it returns only cwd.
func Folders(cwd string) []string {
	var folders []string
	for folder := filepath.Clean(cwd); ; folder = filepath.Dir(folder) {
		folders = append(folders, folder)
		if isRepository(folder) {
			return folders
		}
		if filepath.Dir(folder) == folder {
			return []string{filepath.Clean(cwd)}
		}
	}
}

func isRepository(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, ".git"))
	return err == nil
}

// upTo returns cwd and its parents up to home, innermost first, or only cwd if it is not in
// home.
func upTo(cwd, home string) []string {
	cwd, home = filepath.Clean(cwd), filepath.Clean(home)
	if relative, err := filepath.Rel(home, cwd); err != nil || !filepath.IsLocal(relative) {
		return []string{cwd}
	}
	folders := []string{cwd}
	for folder := cwd; folder != home; {
		folder = filepath.Dir(folder)
		folders = append(folders, folder)
	}
	return folders
}

// loader reads files from the innermost folder outwards.
type loader struct {
	left  int // bytes
	found session.Instructions
}

func (l *loader) note(format string, args ...any) {
	l.found.Notes = append(l.found.Notes, fmt.Sprintf(format, args...))
}

// take reads a file, which must be below root unless root is "". It reports whether the
// file counts, so that no other is looked for in its folder.
func (l *loader) take(path, root string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if root != "" && !Within(root, path) {
		l.note("%s points outside the project and is not read", path)
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
		l.note("%s is cut off: the limit for all instructions together is %d KiB", path, MaxBytes>>10)
	}
	l.left -= len(text)
	l.found.Files = append(l.found.Files, session.InstructionFile{Path: path, Content: text, Truncated: cut})
	return true
}

// read returns at most limit bytes of a file, cut at a nearby end of line if there is one.
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

// Within reports whether path, with symbolic links resolved, is in root, which must not
// contain any.
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
