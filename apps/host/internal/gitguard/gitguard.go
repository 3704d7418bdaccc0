// Package gitguard keeps an agent's commands from planting something that git would run
// later, outside the sandbox: hooks, settings that name programs, and repositories with
// their own hooks or settings. It records what git reads before a command and compares it
// afterwards. Additions are quarantined, and the previous content is restored.
//
// All files are accessed through os.Root, so that a link created by a command in the
// meantime cannot lead outside the project.
package gitguard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Guard records the projects in which commands run. Its zero value is not usable; call New.
type Guard struct {
	keep string // absolute path of the folder for quarantined files

	mu       sync.Mutex
	projects map[string]*project
}

// project is a folder in which commands run.
type project struct {
	users  int
	before snapshot
}

// New returns a Guard that moves quarantined files to a folder, which it creates when
// needed.
func New(keep string) *Guard { return &Guard{keep: keep, projects: map[string]*project{}} }

// Begin records a project before a command runs in it. Concurrent commands share the first
// record. The caller must call end when all processes of the command have ended; it returns
// a sentence for each quarantined item.
func (g *Guard) Begin(dir string) (end func() []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.projects[dir]
	if p == nil {
		before, err := take(dir)
		if err != nil {
			return nil, fmt.Errorf("recording what git would run: %w", err)
		}
		p = &project{before: before}
		g.projects[dir] = p
	}
	p.users++
	return sync.OnceValue(func() []string { return g.end(dir, p) }), nil
}

func (g *Guard) end(dir string, p *project) (notes []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(g.projects, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []string{fmt.Sprintf("what git would run in %s could not be checked: %v", dir, err)}
	}
	defer func() { _ = root.Close() }()
	s := newScan(root)
	defer func() {
		if err := s.close(); err != nil {
			notes = append(notes, fmt.Sprintf("the permissions of files in %s could not be restored: %v", dir, err))
		}
	}()
	if err := s.folder(root, ".", 0); err != nil {
		return []string{fmt.Sprintf("what git would run in %s could not be checked: %v", dir, err)}
	}
	aside := filepath.Join(g.keep, rand.Text())
	for _, c := range compare(p.before, s.found) {
		if c.now.kind == unseen {
			notes = append(notes, fmt.Sprintf("%s: %s; look at it before you use git there", c.path, c.why))
			continue
		}
		if _, outside := s.leads(c.path, c.now); c.moved && !outside {
			continue // what led it out was moved away
		}
		kept, err := putAside(root, aside, c)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %s; it could not be moved away (%v): remove it before you use git there", c.path, c.why, err))
			continue
		}
		note := fmt.Sprintf("%s: %s; it was moved to %s", c.path, c.why, kept)
		if c.old != nil && c.old.large != "" {
			note += "; the one before was too large to be restored"
		}
		notes = append(notes, note)
	}
	return notes
}

// change is something that git would run and that did not exist before.
type change struct {
	path  string
	why   string
	now   file
	old   *file // nil if there was none, or if it leads elsewhere now
	moved bool  // it is the same and leads elsewhere now
}

// compare returns what a command added, sorted by path, and then what leads elsewhere because
// of that.
func compare(before, after snapshot) (changes []change) {
	for _, path := range after.paths() {
		now := after[path]
		old, was := before[path]
		c := change{path: path, now: now}
		if was && now.same(old) {
			c.moved = now.outside && !old.outside
			if !c.moved {
				continue
			}
		} else if was && old.kind != unseen {
			c.old = &old
		}
		switch now.kind {
		case unseen:
			c.why = "a command left this so that it could not be checked for what git would run"
		case hook:
			c.why = "a command added or changed this program, which git would run"
		case pointer:
			if now.inside {
				continue // the repository that it names is checked itself
			}
			c.why = "a command made git use a repository elsewhere"
		case remote:
			c.why = "a command made git use another repository, whose hooks a push would run"
		case settings:
			added := addedSettings(old, now)
			if len(added) == 0 {
				continue
			}
			c.why = "a command set " + strings.Join(added, ", ") + ", with which git may run a program"
		}
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		switch {
		case a.moved == b.moved:
			return 0
		case b.moved:
			return -1
		}
		return 1
	})
	return changes
}

// addedSettings names the new settings that may name a program.
func addedSettings(old, now file) (names []string) {
	known := loud(context.Background(), old)
	for _, setting := range loud(context.Background(), now) {
		name, _, _ := strings.Cut(setting, "\n")
		if !slices.Contains(known, setting) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// emptySettings replaces the settings of a new repository.
const emptySettings = "[core]\n\trepositoryformatversion = 0\n"

// putAside moves a change away, restores the previous content, and returns where the change is.
func putAside(root *os.Root, folder string, c change) (kept string, err error) {
	if kept, err = keep(root, folder, c.now); err != nil {
		return "", err
	}
	if err := root.RemoveAll(c.path); err != nil {
		return "", err
	}
	switch {
	case c.old == nil && c.now.kind == settings:
		return kept, root.WriteFile(c.path, []byte(emptySettings), 0o644)
	case c.old == nil || c.old.large != "":
		return kept, nil
	case c.old.link != "":
		return kept, root.Symlink(c.old.link, c.path)
	}
	if err := root.WriteFile(c.path, c.old.data, c.old.mode.Perm()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	return kept, nil
}

// keep saves a file in a folder outside of the project, and returns where. A large file is only
// renamed: a command can make it of any size, and a copy would fill the disk while others wait.
func keep(root *os.Root, folder string, f file) (kept string, err error) {
	data := f.data
	switch {
	case f.link != "":
		data = []byte("a symbolic link to " + f.link + "\n")
	case f.large != "":
		name := f.path + ".aside-" + rand.Text() + sample
		return filepath.Join(root.Name(), name), root.Rename(f.path, name)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	kept = filepath.Join(folder, flat(f.path))
	return kept, os.WriteFile(kept, data, 0o600)
}

// flat converts a path to a single name.
func flat(path string) string { return strings.ReplaceAll(filepath.ToSlash(path), "/", "%") }
