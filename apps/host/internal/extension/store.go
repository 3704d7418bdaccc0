package extension

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// store is the folder of the home with the copies, each named by its hash.
type store struct {
	folder string

	mu     sync.Mutex
	parsed map[string]*Contents // by hash
	sound  map[string]string    // fingerprints of copies whose hash was checked, by hash
	taken  map[string]takenOf   // results of take, by folder
	loose  []string             // hashes of copies that take made, the oldest first

	// kept reports whether a person decided, or is about to decide, that a copy is kept. It is
	// called with the lock.
	kept func(hash string) bool
}

// maxLoose bounds the copies that nobody has decided about. A project's files can change any
// number of times, and each version that is shown is a copy.
const maxLoose = 2 * maxInProject

// maxTaken bounds the folders whose results are remembered.
const maxTaken = 256

// takenOf is what a folder held when it was copied, and why that cannot be used.
type takenOf struct {
	fingerprint, hash string
	wrong             error
}

const unfinished = ".new-"

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

func newStore(folder string, kept func(hash string) bool) *store {
	return &store{folder: folder, kept: kept, parsed: map[string]*Contents{}, sound: map[string]string{}, taken: map[string]takenOf{}}
}

func (s *store) path(hash string) string { return filepath.Join(s.folder, hash) }

// take copies a folder into the store, unless its content is there.
func (s *store) take(folder string) (*Contents, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	print := fingerprint(folder)
	if have, ok := s.taken[folder]; ok && print != "" && have.fingerprint == print {
		if have.wrong != nil {
			return nil, have.wrong
		}
		if c, err := s.open(have.hash); err == nil {
			return c, nil
		}
	}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("extension: creating the folder of extensions: %w", err)
	}
	fresh, err := os.MkdirTemp(s.folder, unfinished)
	if err != nil {
		return nil, fmt.Errorf("extension: creating a folder for a copy: %w", err)
	}
	defer func() { _ = removeAll(fresh) }() // it is gone after a rename
	t, err := copyInto(folder, fresh)
	if err != nil {
		return nil, err
	}
	if _, err := s.open(t.hash); err != nil { // it is not there, or damaged
		if err := errors.Join(removeAll(s.path(t.hash)), os.Rename(fresh, s.path(t.hash))); err != nil {
			return nil, fmt.Errorf("extension: keeping a copy: %w", err)
		}
	}
	if err := s.bound(t.hash); err != nil {
		return nil, err
	}
	c, err := s.open(t.hash)
	if err != nil && !s.kept(t.hash) {
		err = errors.Join(err, s.remove(t.hash))
	}
	s.note(folder, takenOf{print, t.hash, err})
	return c, err
}

// note notes the result of taking a folder, so that a folder that does not change is not copied
// each time. What could not be read may be readable the next time. It needs the lock.
func (s *store) note(folder string, result takenOf) {
	var unread *fs.PathError
	if result.fingerprint == "" || errors.Is(result.wrong, errDamaged) || errors.As(result.wrong, &unread) {
		return
	}
	if len(s.taken) >= maxTaken {
		clear(s.taken)
	}
	s.taken[folder] = result
}

// bound notes a copy as the newest and removes the oldest ones that are not kept, so that a
// folder whose files change all the time does not fill the disk. It needs the lock.
func (s *store) bound(newest string) error {
	s.loose = append(slices.DeleteFunc(s.loose, func(hash string) bool { return hash == newest || s.kept(hash) }), newest)
	for len(s.loose) > maxLoose {
		if err := s.remove(s.loose[0]); err != nil {
			return fmt.Errorf("extension: removing an old copy: %w", err)
		}
		s.loose = s.loose[1:]
	}
	return nil
}

func (s *store) remove(hash string) error {
	delete(s.parsed, hash)
	delete(s.sound, hash)
	return removeAll(s.path(hash))
}

func copyInto(folder, fresh string) (tree, error) {
	to, err := os.OpenRoot(fresh)
	if err != nil {
		return tree{}, fmt.Errorf("extension: opening the folder of a copy: %w", err)
	}
	t, err := copyOf(folder, to)
	if err = errors.Join(err, to.Close()); err != nil {
		return tree{}, err
	}
	return t, nil
}

var errDamaged = errors.New("its copy in the home is missing or was changed: add it again")

// get returns a copy whose files are those of its hash.
func (s *store) get(hash string) (*Contents, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(hash)
}

// open needs the lock. A copy is hashed when it is first used and when it looks changed.
func (s *store) open(hash string) (*Contents, error) {
	if !hashForm.MatchString(hash) {
		return nil, errDamaged
	}
	print := fingerprint(s.path(hash))
	if print == "" {
		return nil, errDamaged
	}
	if c := s.parsed[hash]; c != nil && s.sound[hash] == print {
		return c, nil
	}
	delete(s.parsed, hash)
	t, err := copyOf(s.path(hash), nil)
	if err != nil || t.hash != hash {
		return nil, errDamaged
	}
	c, err := read(s.path(hash), t)
	if err != nil {
		return nil, err
	}
	s.parsed[hash], s.sound[hash] = c, print
	return c, nil
}

// clean removes the copies that keep does not want, and unfinished ones.
func (s *store) clean(keep func(hash string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if hashForm.MatchString(name) && !keep(name) || strings.HasPrefix(name, unfinished) {
			err = errors.Join(err, s.remove(name))
		}
	}
	if err != nil {
		return fmt.Errorf("extension: removing copies: %w", err)
	}
	return nil
}

// removeAll removes a copy. On some systems a file that cannot be written to has to be made
// writable first.
func removeAll(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSymlink == 0 {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}
