// Package definition finds and reads what people define for agents in Markdown files:
// a file has front matter, which names and describes, and a body. It reads leniently:
// a fault of a name is noted and the file still counts; only one without a
// description or without readable front matter is left out, with a note.
//
// Definitions of a kind, such as "skills", lie in .scorel/skills, .agents/skills and
// .claude/skills of the working folder and of those above it up to the root of the
// repository, then in the same under the user's home. The first of a name counts.
package definition

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Places say where to look.
type Places struct {
	Cwd         string // absolute
	Trusted     bool   // the project's own definitions count
	UserHome    string // absolute; "" is none
	ScorelHome  string // absolute; a folder in it, such as "skills", stands for .scorel/skills of the home; "" is none
	TrustAdvice string // what a person does to trust the folder; part of a note
}

// Finder finds the definitions of one kind, in the order of their precedence.
type Finder struct {
	// Notes are what is left out or odd, for people.
	Notes  []string
	kind   string
	most   int
	places Places
	root   string            // of the project, without symbolic links
	first  map[string]string // paths by name
}

// New returns a Finder of a kind, in the plural as its folders have it, that takes at
// most so many.
func New(kind string, most int, p Places) *Finder {
	folders := instructions.Folders(p.Cwd)
	return &Finder{kind: kind, most: most, places: p, root: resolved(folders[len(folders)-1]), first: map[string]string{}}
}

// Note notes something for people.
func (f *Finder) Note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// Each calls search with the folders that may hold definitions, those of the project
// first, and session.ScopeProject or session.ScopeUser. A folder of the user may not
// be there.
func (f *Finder) Each(search func(folder, scope string)) {
	user := f.userFolders()
	for _, folder := range instructions.Folders(f.places.Cwd) {
		for _, place := range f.within(folder) {
			if f.counts(place, user) {
				search(place, session.ScopeProject)
			}
		}
	}
	for _, folder := range user {
		search(folder, session.ScopeUser)
	}
}

// within are the folders that hold definitions, as they lie in a project or home.
func (f *Finder) within(folder string) []string {
	return []string{
		filepath.Join(folder, ".scorel", f.kind), filepath.Join(folder, ".agents", f.kind), filepath.Join(folder, ".claude", f.kind),
	}
}

func (f *Finder) userFolders() []string {
	var folders []string
	if f.places.ScorelHome != "" {
		folders = append(folders, filepath.Join(f.places.ScorelHome, f.kind))
	}
	if f.places.UserHome != "" {
		folders = append(folders, f.within(f.places.UserHome)...)
	}
	return folders
}

// counts tells whether a folder of the project is searched. One that is the user's own,
// as in a home that is a repository, is searched as such later.
func (f *Finder) counts(folder string, user []string) bool {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() || slices.Contains(user, folder) {
		return false
	}
	switch {
	case !f.places.Trusted:
		f.Note("%s is left out, because the folder is not trusted: %s", folder, cmp.Or(f.places.TrustAdvice, "trust it first"))
	case !f.Within(folder):
		f.Note("%s leads out of the project and is left out", folder)
	default:
		return true
	}
	return false
}

// Within tells whether a path, with its symbolic links followed, lies in the project.
func (f *Finder) Within(path string) bool { return instructions.Within(f.root, path) }

// Take reads a definition and hands it to keep, unless it does not count: that is
// noted. keep tells whether it took it, and so its name.
func (f *Finder) Take(path, scope string, read func(path string) (Document, error), keep func(Document) bool) {
	if scope == session.ScopeProject && !f.Within(path) {
		f.Note("%s leads out of the project and is left out", path)
		return
	}
	document, err := read(path)
	if err != nil {
		f.Note("%s is left out: %v", path, err)
		return
	}
	for _, warning := range document.Warnings {
		f.Note("%s: %s", path, warning)
	}
	if first, taken := f.first[document.Name]; taken {
		f.Note("%s is left out: %s has the same name %q and comes first", path, first, document.Name)
		return
	}
	if len(f.first) >= f.most {
		f.Note("%s is left out: there are %d %s already", path, f.most, f.kind)
		return
	}
	if keep(document) {
		f.first[document.Name] = path
	}
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
