package tool

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/pathname"
)

// guard knows which folders tools must not access. All paths are absolute and resolved.
type guard struct {
	closed []string
	open   []string // accessible parts of closed folders
	shown  []string // parts that may be read but not written
}

// newGuard closes folders except for some parts. A part that links to a closed folder
// itself, or to one of its parents, opens nothing.
func newGuard(closed, open, shown []string) guard {
	g := guard{closed: resolvedAll(closed), open: resolvedAll(open)}
	g.shown = slices.DeleteFunc(resolvedAll(shown), func(part string) bool {
		return slices.ContainsFunc(g.closed, func(folder string) bool { return within(part, folder) })
	})
	return g
}

// forWriting returns the guard for tools that change files.
func (g guard) forWriting() guard {
	g.shown = nil
	return g
}

// hides reports whether a path, with symbolic links resolved, is closed to tools.
func (g guard) hides(path string) bool { return g.closes(resolved(path)) }

// closes is hides for a path without links.
func (g guard) closes(path string) bool {
	closed := slices.ContainsFunc(g.closed, func(folder string) bool {
		return pathname.WithinFold(plain(folder), plain(path))
	})
	holds := func(folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return within(folder, path) })
	}
	return ofProcess(path) || closed && !holds(g.open) && !holds(g.shown)
}

// processFolder matches the folder of a process. It exposes the environment, memory and
// open files; the host's contain the providers' keys.
var processFolder = regexp.MustCompile(`^/proc/([0-9]+|self|thread-self)(/|$)`)

func ofProcess(path string) bool { return processFolder.MatchString(path) }

// plain returns a path in the form that package pathname expects.
func plain(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// within reports whether path is folder or is inside it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// maxKnown bounds the size of files whose content is remembered, in bytes, because hashing
// reads the whole file.
const maxKnown = 64 << 20

// fingerprint is the hash of a file's content.
type fingerprint [sha256.Size]byte

// seenFiles remembers the content of files as the session last read or wrote them. Keys are
// resolved paths.
type seenFiles struct {
	mu    sync.Mutex
	files map[string]fingerprint
}

func (s *seenFiles) note(path string, print fingerprint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]fingerprint{}
	}
	s.files[path] = print
}

func (s *seenFiles) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, path)
}

func (s *seenFiles) get(path string) (print fingerprint, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	print, known = s.files[path]
	return print, known
}

// pathLocks keeps two calls from writing the same file at the same time, in any session.
type pathLocks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

type pathLock struct {
	turn  chan struct{} // holds one token while the lock is held
	users int
}

// lock locks all paths, in an order that prevents deadlocks. It fails only if ctx ends.
func (l *pathLocks) lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	var taken []string
	unlock = func() {
		for _, path := range taken {
			l.release(path)
		}
	}
	for _, path := range paths {
		entry := l.enter(path)
		select {
		case entry.turn <- struct{}{}:
			taken = append(taken, path)
		case <-ctx.Done():
			l.leave(path)
			unlock()
			return nil, ctx.Err()
		}
	}
	return unlock, nil
}

func (l *pathLocks) enter(path string) *pathLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*pathLock{}
	}
	entry := l.held[path]
	if entry == nil {
		entry = &pathLock{turn: make(chan struct{}, 1)}
		l.held[path] = entry
	}
	entry.users++
	return entry
}

func (l *pathLocks) release(path string) {
	l.mu.Lock()
	entry := l.held[path]
	l.mu.Unlock()
	<-entry.turn
	l.leave(path)
}

func (l *pathLocks) leave(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[path].users--; l.held[path].users == 0 {
		delete(l.held, path)
	}
}
