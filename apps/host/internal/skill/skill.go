// Package skill finds Agent Skills: folders with a SKILL.md, whose front matter
// names and describes what its body explains. It reads leniently: a fault of a
// name is noted and the skill still counts; only one without a description or
// without readable front matter is left out, with a note.
//
// Searched are .scorel/skills, .agents/skills and .claude/skills in the working
// folder and those above it up to the root of the repository, then the same under
// the user's home. The first skill of a name counts.
package skill

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/packages/protocol/session"
)

// FileName is the file that makes a folder a skill.
const FileName = "SKILL.md"

// Bounds of the search.
const (
	maxSkills  = 200
	maxFolders = 5000
	maxDepth   = 6 // folders below the one that is searched
	maxFile    = 256 << 10
)

// Places say where to look.
type Places struct {
	Cwd         string // absolute
	Trusted     bool   // the project's own skills count
	UserHome    string // absolute; "" is none
	ScorelHome  string // absolute; its folder "skills" stands for .scorel/skills of the home; "" is none
	TrustAdvice string // what a person does to trust the folder; part of a note
}

// Find returns the skills, by name, with notes on what is left out or odd.
func Find(p Places) session.Skills {
	f := finder{named: map[string]session.SkillInfo{}, seen: map[string]bool{}}
	folders := instructions.Folders(p.Cwd)
	f.root = resolved(folders[len(folders)-1])
	user := userFolders(p)
	for _, folder := range folders {
		for _, place := range places() {
			f.project(filepath.Join(folder, place), user, p)
		}
	}
	for _, folder := range user {
		f.search(folder, session.ScopeUser)
	}
	names := slices.Sorted(maps.Keys(f.named))
	found := session.Skills{Skills: make([]session.SkillInfo, 0, len(names)), Notes: f.notes}
	for _, name := range names {
		found.Skills = append(found.Skills, f.named[name])
	}
	return found
}

// places are the folders that hold skills, as they lie in a project or home.
func places() []string {
	return []string{filepath.Join(".scorel", "skills"), filepath.Join(".agents", "skills"), filepath.Join(".claude", "skills")}
}

func userFolders(p Places) []string {
	var folders []string
	if p.ScorelHome != "" {
		folders = append(folders, filepath.Join(p.ScorelHome, "skills"))
	}
	if p.UserHome != "" {
		for _, place := range places() {
			folders = append(folders, filepath.Join(p.UserHome, place))
		}
	}
	return folders
}

// finder collects skills in the order of their precedence.
type finder struct {
	root    string // of the project, without symbolic links
	named   map[string]session.SkillInfo
	seen    map[string]bool // folders that were searched, without symbolic links
	folders int
	notes   []string
}

func (f *finder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// project searches a folder of the project. One that is the user's own, as in a
// home that is a repository, is searched as such later.
func (f *finder) project(folder string, user []string, p Places) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() || slices.Contains(user, folder) {
		return
	}
	switch {
	case !p.Trusted:
		f.note("%s is left out, because the folder is not trusted: %s", folder, cmp.Or(p.TrustAdvice, "trust it first"))
	case !instructions.Within(f.root, folder):
		f.note("%s leads out of the project and is left out", folder)
	default:
		f.search(folder, session.ScopeProject)
	}
}

func (f *finder) search(folder, scope string) { f.walk(folder, scope, 0) }

// walk looks for skills in a folder and below; what is in a skill is its own.
func (f *finder) walk(folder, scope string, depth int) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil || f.seen[real] {
		return
	}
	f.seen[real] = true
	if f.folders++; f.folders > maxFolders {
		if f.folders == maxFolders+1 {
			f.note("more than %d folders were searched; what lies in %s and after it is left out", maxFolders, folder)
		}
		return
	}
	if depth > 0 {
		if info, err := os.Stat(filepath.Join(folder, FileName)); err == nil && info.Mode().IsRegular() {
			f.take(folder, scope)
			return
		}
	}
	if depth >= maxDepth {
		return
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.note("%s cannot be read: %v", folder, err)
		return
	}
	for _, entry := range entries {
		below := filepath.Join(folder, entry.Name())
		if entry.Name() != ".git" && entry.Name() != "node_modules" && f.mayEnter(below, entry, scope) {
			f.walk(below, scope, depth+1)
		}
	}
}

// mayEnter follows the links of the user, and those of a project that stay in it.
func (f *finder) mayEnter(path string, entry os.DirEntry, scope string) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && (scope == session.ScopeUser || instructions.Within(f.root, path))
}

// take reads the skill of a folder.
func (f *finder) take(folder, scope string) {
	path := filepath.Join(folder, FileName)
	if scope == session.ScopeProject && !instructions.Within(f.root, path) {
		f.note("%s leads out of the project and is left out", path)
		return
	}
	document, err := Read(path)
	if err != nil {
		f.note("%s is left out: %v", path, err)
		return
	}
	for _, warning := range document.Warnings {
		f.note("%s: %s", path, warning)
	}
	if first, taken := f.named[document.Name]; taken {
		f.note("%s is left out: %s has the same name %q and comes first", path, first.Path, document.Name)
		return
	}
	if len(f.named) >= maxSkills {
		f.note("%s is left out: there are %d skills already", path, maxSkills)
		return
	}
	f.named[document.Name] = session.SkillInfo{
		Name: document.Name, Description: document.Description, Path: path, Scope: scope, Manual: document.Manual,
	}
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
