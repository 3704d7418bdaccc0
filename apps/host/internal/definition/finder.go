// Package definition finds and parses Markdown files in which people define things for
// agents: a file has front matter, with a name and a description, and a body. Parsing is
// lenient: an invalid name is noted and repaired. A file is left out, with a note, only if
// it has no description or its front matter cannot be read.
//
// Definitions of a kind, such as "skills", are in .scorel/skills, .agents/skills and
// .claude/skills of the working folder and its parents up to the root of the repository,
// then in the same folders of the user's home, then in extensions. The first definition of a
// name wins.
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

// Extension is where an extension defines things. Its definitions are named EXTENSION:NAME and
// come last.
type Extension struct {
	Name    string
	Folders map[string][]string // absolute paths of folders and files, by kind
}

// Places says where to look.
type Places struct {
	Cwd         string // absolute
	Trusted     bool   // whether the project's own definitions are used
	UserHome    string // absolute; "" for none
	ScorelHome  string // absolute; a folder in it, such as "skills", is the .scorel/skills of the home; "" for none
	TrustAdvice string // how a person can trust the folder; part of a note
	Extensions  []Extension
}

// Finder finds the definitions of one kind, in the order of their precedence.
type Finder struct {
	// Notes are problems to show to people: what was left out or is odd.
	Notes  []string
	kind   string
	most   int
	places Places
	root   string            // root of the project, with symbolic links resolved
	first  map[string]string // paths by name
	prefix string            // of the names of an extension
}

// New returns a Finder for a kind, named in the plural as in its folders, that accepts at
// most that many definitions.
func New(kind string, most int, p Places) *Finder {
	folders := instructions.Folders(p.Cwd)
	return &Finder{kind: kind, most: most, places: p, root: resolved(folders[len(folders)-1]), first: map[string]string{}}
}

// Note adds a note for people.
func (f *Finder) Note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// Each calls search with each folder that may contain definitions, the project's first, and
// session.ScopeProject or session.ScopeUser. The user's folders may not exist.
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
	f.EachExtension(f.kind, search)
}

// EachExtension calls search with each path at which an extension has definitions of a kind,
// and session.ScopeExtension.
func (f *Finder) EachExtension(kind string, search func(path, scope string)) {
	for _, extension := range f.places.Extensions {
		f.prefix = extension.Name + ":"
		for _, folder := range extension.Folders[kind] {
			search(folder, session.ScopeExtension)
		}
	}
	f.prefix = ""
}

// within returns the definition folders of a project or home.
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

// counts reports whether a folder of the project is searched. The user's own folders, if
// the home is a repository, are searched later as such.
func (f *Finder) counts(folder string, user []string) bool {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() || slices.Contains(user, folder) {
		return false
	}
	switch {
	case !f.places.Trusted:
		f.Note("%s is left out because the folder is not trusted: %s", folder, cmp.Or(f.places.TrustAdvice, "trust it first"))
	case !f.Within(folder):
		f.Note("%s points outside the project and is left out", folder)
	default:
		return true
	}
	return false
}

// Within reports whether a path, with symbolic links resolved, is in the project.
func (f *Finder) Within(path string) bool { return instructions.Within(f.root, path) }

// Take reads a definition and passes it to keep. If it is left out, a note says why. keep
// reports whether it accepted the definition, and with it the name.
func (f *Finder) Take(path, scope string, read func(path string) (Document, error), keep func(Document) bool) {
	if scope == session.ScopeProject && !f.Within(path) {
		f.Note("%s points outside the project and is left out", path)
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
	document.Name = f.prefix + document.Name
	if first, taken := f.first[document.Name]; taken {
		f.Note("%s is left out: %s has the same name %q and comes first", path, first, document.Name)
		return
	}
	if len(f.first) >= f.most {
		f.Note("%s is left out: the limit of %d %s is reached", path, f.most, f.kind)
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
