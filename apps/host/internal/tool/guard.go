package tool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/pathname"
	"github.com/scorel/scorel/packages/atomicfile"
)

// guard knows which folders are closed to tools. All are absolute and resolved.
type guard struct {
	closed []string
	open   []string // parts of the closed ones that are not
	shown  []string // parts that are read and not written
}

// newGuard closes folders but for some parts. A part that is a link to all of a closed
// folder, or above it, opens nothing.
func newGuard(closed, open, shown []string) guard {
	g := guard{closed: resolvedAll(closed), open: resolvedAll(open)}
	g.shown = slices.DeleteFunc(resolvedAll(shown), func(part string) bool {
		return slices.ContainsFunc(g.closed, func(folder string) bool { return within(part, folder) })
	})
	return g
}

// forWriting is the guard of tools that change what they name.
func (g guard) forWriting() guard {
	g.shown = nil
	return g
}

// hides tells whether a path, also through symbolic links, lies where no tool goes.
func (g guard) hides(path string) bool {
	path = resolved(path)
	closed := slices.ContainsFunc(g.closed, func(folder string) bool {
		return pathname.WithinFold(plain(folder), plain(path))
	})
	holds := func(folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return within(folder, path) })
	}
	return ofProcess(path) || closed && !holds(g.open) && !holds(g.shown)
}

// errSwapped says that a path led somewhere else each time it was looked at.
var errSwapped = errors.New("is changed all the time; try again when nothing works on it")

// openRegular opens a file, and makes sure that it is one that may be opened: a command
// that runs meanwhile could have put a link into its path after that was looked at.
func (g guard) openRegular(full string) (*os.File, error) {
	for range 3 {
		file, err := openRegular(full)
		if err != nil {
			return nil, err
		}
		now := resolved(full)
		opened, err := file.Stat()
		there, thereErr := os.Lstat(now)
		if err == nil && thereErr == nil && os.SameFile(opened, there) && !g.hides(now) {
			return file, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return nil, errSwapped
}

// pin opens the folder that a file lies in, or is to lie in, and makes sure that it is one
// that may be written to: as openRegular does for what is read.
func (g guard) pin(path string) (folder *os.Root, name string, err error) {
	name = filepath.Base(path)
	for range 3 {
		folder, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return nil, "", err
		}
		now := resolved(filepath.Dir(path))
		opened, err := folder.Stat(".")
		there, thereErr := os.Lstat(now)
		if err == nil && thereErr == nil && os.SameFile(opened, there) && !g.hides(filepath.Join(now, name)) {
			return folder, name, nil
		}
		if err := folder.Close(); err != nil {
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("%s %w", path, errSwapped)
}

// put writes a whole file, whose path has no link at its end, or nothing.
func (g guard) put(path, content string, mode fs.FileMode) error {
	folder, name, err := g.pin(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return atomicfile.WriteIn(folder, name, []byte(content), mode)
}

// remove takes a file away.
func (g guard) remove(path string) error {
	folder, name, err := g.pin(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Remove(name)
}

// chmod sets the rights of a file.
func (g guard) chmod(path string, mode fs.FileMode) error {
	folder, name, err := g.pin(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Chmod(name, mode)
}

// processFolder is that of a process: its environment, memory and open files are there,
// and the host's own hold the keys of providers.
var processFolder = regexp.MustCompile(`^/proc/([0-9]+|self|thread-self)(/|$)`)

func ofProcess(path string) bool { return processFolder.MatchString(path) }

// plain is a path as package pathname takes it.
func plain(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// within tells whether path is folder or lies in it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// maxKnown bounds the files whose content is remembered, in bytes: a hash takes
// the whole file.
const maxKnown = 64 << 20

// fingerprint is the hash of a file's content.
type fingerprint [sha256.Size]byte

// seenFiles remembers what a session knows of files: their content when they were
// last read or written by it. Keys are resolved paths.
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

// pathLocks keeps two calls from writing one file at a time, whatever session
// they belong to.
type pathLocks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

type pathLock struct {
	turn  chan struct{} // holds one while somebody has the lock
	users int
}

// lock takes the locks of all paths, in an order that cannot block two callers
// for ever. It fails only when ctx ends.
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
