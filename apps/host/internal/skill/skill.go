// Package skill finds Agent Skills: folders with a SKILL.md, whose front matter has a name
// and a description of what its body explains. Package definition says where they are and
// how they are read.
package skill

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/packages/protocol/session"
)

// FileName is the file that makes a folder a skill.
const FileName = "SKILL.md"

// Bounds of the search.
const (
	maxSkills  = 200
	maxFolders = 5000
	maxDepth   = 6 // levels below the searched folder
)

// Find returns the skills, sorted by name, with notes on what was left out or is odd.
func Find(p definition.Places) session.Skills {
	f := finder{Finder: definition.New("skills", maxSkills, p), named: map[string]session.SkillInfo{}, seen: map[string]bool{}}
	f.Each(f.search)
	f.EachExtension(Commands, f.command)
	return f.found()
}

// FindIn returns only the skills and commands of extensions.
func FindIn(extensions ...definition.Extension) session.Skills {
	f := finder{Finder: definition.New("skills", maxSkills, definition.Places{Cwd: "/", Extensions: extensions}), named: map[string]session.SkillInfo{}, seen: map[string]bool{}}
	f.EachExtension("skills", f.search)
	f.EachExtension(Commands, f.command)
	return f.found()
}

func (f *finder) found() session.Skills {
	names := slices.Sorted(maps.Keys(f.named))
	found := session.Skills{Skills: make([]session.SkillInfo, 0, len(names)), Notes: f.Notes}
	for _, name := range names {
		found.Skills = append(found.Skills, f.named[name])
	}
	return found
}

// Read reads a SKILL.md. The error says briefly why it is not a skill.
func Read(path string) (definition.Document, error) { return definition.ReadNamedByFolder(path) }

// finder collects skills in the order of their precedence.
type finder struct {
	*definition.Finder
	named   map[string]session.SkillInfo
	seen    map[string]bool // searched folders, with symbolic links resolved
	folders int
}

func (f *finder) search(folder, scope string) {
	depth := 0
	if scope == session.ScopeExtension { // which may name the folder of a skill itself
		depth = 1
	}
	f.walk(folder, scope, depth)
}

// walk looks for skills in a folder and below. It does not look inside a skill.
func (f *finder) walk(folder, scope string, depth int) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil || f.seen[real] {
		return
	}
	f.seen[real] = true
	if f.folders++; f.folders > maxFolders {
		if f.folders == maxFolders+1 {
			f.Note("more than %d folders were searched; %s and everything after it is left out", maxFolders, folder)
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
		f.Note("%s cannot be read: %v", folder, err)
		return
	}
	for _, entry := range entries {
		below := filepath.Join(folder, entry.Name())
		if entry.Name() != ".git" && entry.Name() != "node_modules" && f.mayEnter(below, entry, scope) {
			f.walk(below, scope, depth+1)
		}
	}
}

// mayEnter follows the user's links, and the project's links that stay inside the project.
func (f *finder) mayEnter(path string, entry os.DirEntry, scope string) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && (scope != session.ScopeProject || f.Within(path))
}

// take reads the skill in a folder.
func (f *finder) take(folder, scope string) {
	path := filepath.Join(folder, FileName)
	f.Take(path, scope, Read, func(d definition.Document) bool {
		f.named[d.Name] = session.SkillInfo{Name: d.Name, Description: d.Description, Path: path, Scope: scope, Manual: d.Manual}
		return true
	})
}
