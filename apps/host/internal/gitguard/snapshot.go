package gitguard

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kind is the role of a file for git.
type kind int

const (
	settings kind = iota
	hook          // a program that git runs on its own
	pointer       // names another folder that git uses
	remote        // names another repository, as remotes did before they were settings
	unseen        // it could not be looked at
)

// file describes a file that git reads.
type file struct {
	path    string // relative to the project
	kind    kind
	data    []byte
	mode    fs.FileMode
	link    string   // target of a symbolic link
	inside  bool     // for a pointer: its target is in the project
	outside bool     // for a pointer: it names a path in the project, on which a link leads out
	near    []string // for settings: remotes that are folders of the project
	odd     bool     // it is not a regular file, or cannot be read, and so never equal to another
	large   string   // for a file whose content is too large to be kept: its hash
}

func (f file) same(other file) bool {
	executable := func(f file) bool { return f.mode&0o111 != 0 }
	return !f.odd && !other.odd && f.kind == other.kind && f.link == other.link && bytes.Equal(f.data, other.data) && f.large == other.large && executable(f) == executable(other)
}

// snapshot holds what git reads, by path relative to the project.
type snapshot map[string]file

func (s snapshot) paths() []string { return slices.Sorted(maps.Keys(s)) }

// Bounds of a scan.
const (
	maxFile    = 1 << 20 // bytes of one file that are kept
	maxHashed  = 1 << 28 // bytes of one file that are compared
	maxDepth   = 128     // nesting of folders
	maxFolders = 200_000 // in total; real projects have fewer
)

func take(dir string) (_ snapshot, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	s := newScan(root)
	defer func() { err = errors.Join(err, s.close()) }()
	return s.found, s.folder(root, ".", 0)
}

// scan looks for repositories in a project.
type scan struct {
	top    *os.Root
	found  snapshot
	seen   int // number of folders
	lifted []lifted
}

// lifted is a file or folder whose permissions the scan changed.
type lifted struct {
	path string
	mode fs.FileMode // as it was
}

func newScan(root *os.Root) *scan { return &scan{top: root, found: snapshot{}} }

// folder scans a folder and everything below it, including the inside of repositories: a
// repository can be anywhere.
func (s *scan) folder(at *os.Root, path string, depth int) error {
	dir, err := at.Open(".")
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	if closeErr := dir.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	// Git's own folder comes first: no number of others may keep it from being seen.
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(rank(a), rank(b)) })
	names := map[string]bool{}
	for _, entry := range entries {
		names[entry.Name()] = true
		if strings.EqualFold(entry.Name(), ".git") && !entry.IsDir() {
			s.add(filepath.Join(path, entry.Name()), pointer)
		}
	}
	// Git recognizes a repository by these entries. One that shares them with another
	// repository has a commondir.
	if names["objects"] && names["refs"] || names["commondir"] || strings.EqualFold(filepath.Base(path), ".git") {
		s.repository(path)
	}
	for _, entry := range entries {
		name := filepath.Join(path, entry.Name())
		switch {
		case !entry.IsDir():
			continue
		case s.seen >= maxFolders:
			s.miss(".")
			return nil
		case depth >= maxDepth:
			s.miss(path)
			return nil
		}
		s.seen++
		below, err := at.OpenRoot(entry.Name())
		if errors.Is(err, fs.ErrPermission) && s.lift(name, 0o700) {
			below, err = at.OpenRoot(entry.Name())
		}
		if err == nil {
			err = s.folder(below, name, depth+1)
			_ = below.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // or it is gone
			s.miss(name)
		}
	}
	return nil
}

// rank sorts git's own folder before others.
func rank(entry fs.DirEntry) int {
	if strings.EqualFold(entry.Name(), ".git") {
		return 0
	}
	return 1
}

// lift gives the owner more permissions for a file or folder until the scan is closed, and
// reports whether it could. Git needs no permission to list a folder, so that one which cannot
// be listed can hide what git runs.
func (s *scan) lift(path string, more fs.FileMode) bool {
	info, err := s.top.Stat(path)
	if err != nil {
		return false
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if mode|more == mode || s.top.Chmod(path, mode|more) != nil {
		return false
	}
	s.lifted = append(s.lifted, lifted{path, mode})
	return true
}

// reach lifts the permissions of a folder and of those above it where it cannot be listed.
func (s *scan) reach(path string) {
	if above := filepath.Dir(path); above != "." {
		s.reach(above)
	}
	dir, err := s.top.Open(path)
	if err == nil {
		_ = dir.Close()
	} else if errors.Is(err, fs.ErrPermission) {
		s.lift(path, 0o700)
	}
}

// miss records that something could not be looked at.
func (s *scan) miss(path string) { s.found[path] = file{path: path, kind: unseen} }

// close restores the permissions that were lifted.
func (s *scan) close() error {
	var failed error
	for _, l := range slices.Backward(s.lifted) {
		if err := s.top.Chmod(l.path, l.mode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// repository adds what git reads of a repository.
func (s *scan) repository(path string) {
	for _, name := range []string{"config", "config.worktree"} {
		s.settings(filepath.Join(path, name))
	}
	s.add(filepath.Join(path, "commondir"), pointer)
	s.files(filepath.Join(path, "remotes"), remote)
	s.files(filepath.Join(path, "branches"), remote)
	s.files(filepath.Join(path, "hooks"), hook)
	config := s.found[filepath.Join(path, "config")]
	if folder := hooksPath(config); folder != "" {
		if filepath.IsAbs(folder) {
			rel, err := filepath.Rel(s.top.Name(), folder)
			if err != nil {
				return
			}
			folder = rel
		} else if strings.EqualFold(filepath.Base(path), ".git") {
			folder = filepath.Join(filepath.Dir(path), folder)
		} else {
			folder = filepath.Join(path, folder)
		}
		if filepath.IsLocal(folder) {
			s.files(folder, hook)
		}
	}
}

// settings adds a settings file, and what is on the way to the folders of the project that it
// names as remotes.
func (s *scan) settings(path string) {
	s.add(path, settings)
	f, ok := s.found[path]
	if !ok {
		return
	}
	for _, address := range addresses(f) {
		if s.near(path, address) {
			f.near = append(f.near, address)
		}
	}
	s.found[path] = f
}

// near reports whether an address is a path to a folder of the project, whose hooks are
// checked themselves. A link on the way counts as a pointer: it could lead elsewhere later.
func (s *scan) near(config, address string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(address), "/"), "..") {
		return false // after a link it leads elsewhere than it seems to
	}
	absolute := filepath.IsAbs(address)
	if !absolute {
		if !strings.EqualFold(filepath.Base(filepath.Dir(config)), ".git") {
			return false
		}
		address = filepath.Join(s.top.Name(), filepath.Dir(filepath.Dir(config)), address)
	}
	rel, err := filepath.Rel(s.top.Name(), address)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	s.reach(rel)
	s.step(rel + ".git") // git also tries this name
	for at := rel; at != "."; at = filepath.Dir(at) {
		s.step(at)
	}
	_, err = s.top.Stat(rel)
	return err == nil && absolute // what a relative one names depends on the worktree
}

// step adds a link, or a file that names another folder, on the way to a repository.
func (s *scan) step(path string) {
	info, err := s.top.Lstat(path)
	if _, added := s.found[path]; added || err != nil || info.IsDir() {
		return
	}
	s.add(path, pointer)
	if f := s.found[path]; f.kind == pointer && f.link == "" && !strings.HasPrefix(string(f.data), "gitdir:") {
		delete(s.found, path)
	}
}

// sample ends the names of files that git does not run, and that a scan leaves out.
const sample = ".sample"

// files adds the files of a folder, such as hooks, and the folder itself if it is a link.
func (s *scan) files(path string, k kind) {
	s.reach(path)
	info, err := s.top.Lstat(path)
	if err != nil || !info.IsDir() {
		s.add(path, k)
	}
	dir, err := s.top.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			s.miss(path)
		}
		return
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		if info != nil && info.IsDir() {
			s.miss(path)
		}
		return
	}
	for _, entry := range entries {
		if !entry.IsDir() && !strings.HasSuffix(entry.Name(), sample) {
			s.add(filepath.Join(path, entry.Name()), k)
		}
	}
}

// add reads a file if it exists. It never blocks.
func (s *scan) add(path string, k kind) {
	info, err := s.top.Lstat(path)
	if err != nil {
		return
	}
	f := file{path: path, kind: k, mode: info.Mode()}
	if info.Mode()&fs.ModeSymlink != 0 {
		f.link, err = s.top.Readlink(path)
		f.odd = err != nil
	}
	opened, err := s.top.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if errors.Is(err, fs.ErrPermission) && s.lift(path, 0o400) { // the system runs programs that cannot be read
		opened, err = s.top.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	}
	if errors.Is(err, fs.ErrPermission) {
		s.miss(path)
		return
	}
	if err == nil {
		if now, err := opened.Stat(); err == nil && now.Mode().IsRegular() {
			f.data, err = io.ReadAll(io.LimitReader(opened, maxFile+1))
			f.mode = f.mode&fs.ModeType | now.Mode().Perm()
			f.odd = f.odd || err != nil
			if len(f.data) > maxFile {
				hash := sha256.New()
				_, err = io.Copy(hash, io.MultiReader(bytes.NewReader(f.data), io.LimitReader(opened, maxHashed)))
				f.data, f.large, f.odd = nil, fmt.Sprintf("%d %x", now.Size(), hash.Sum(nil)), f.odd || err != nil
			}
		} else {
			f.odd = f.odd || f.link == "" // a link may lead to a folder
		}
		_ = opened.Close()
	}
	if k == pointer {
		f.inside, f.outside = s.leads(path, f)
	}
	s.found[path] = f
}

// leads reports whether a pointer names a folder of the project, following links, or a path in
// the project on which a link leads out.
func (s *scan) leads(path string, f file) (inside, outside bool) {
	target := f.link
	if target == "" {
		target = strings.TrimSpace(strings.TrimPrefix(string(f.data), "gitdir:"))
	}
	if target == "" {
		return false, false
	}
	if filepath.IsAbs(target) {
		rel, err := filepath.Rel(s.top.Name(), target)
		if err != nil {
			return false, false
		}
		target = rel
	} else {
		target = filepath.Join(filepath.Dir(path), target)
	}
	if !filepath.IsLocal(target) {
		return false, false
	}
	s.reach(filepath.Dir(target))
	_, err := s.top.Stat(target)
	return err == nil, err != nil && !errors.Is(err, fs.ErrNotExist)
}
