package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of a ProjectFolder, besides those of the system. Each is the end of a sentence that
// begins with the path.
var (
	ErrNotInFolder = errors.New("is not a path in the folder")
	ErrLeavesIt    = errors.New("is a symbolic link that leaves the folder")
	ErrGitsOwn     = errors.New("belongs to git itself, and is closed")
	ErrClosed      = errClosed
	ErrIsFolder    = errIsFolder
)

// ProjectFolder gives people access to the files of a folder, with the path protections of
// the file tools. Unlike these it reaches nothing outside of the folder, and none of git's own
// files. Paths are relative and use slashes; "" is the folder itself.
type ProjectFolder struct {
	private guard
	real    string // without links
	locks   *pathLocks
}

// ProjectFolder returns the files of the folder dir, which must exist.
func (c *Catalog) ProjectFolder(dir string) (*ProjectFolder, error) {
	private := newGuard(c.options.Private, nil, nil)
	folder, real, err := private.openFolder(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	return &ProjectFolder{private: private, real: real, locks: &c.locks}, folder.Close()
}

// Dir returns the absolute path of the folder, without links.
func (p *ProjectFolder) Dir() string { return p.real }

// IsPrivate reports whether a path belongs to scorel itself or to a process.
func (p *ProjectFolder) IsPrivate(path string) bool { return p.private.hides(path) }

// Path returns the absolute path of rel without following links, if it names something in
// the folder.
func (p *ProjectFolder) Path(rel string) (string, error) {
	local := filepath.FromSlash(cmp.Or(rel, "."))
	if !filepath.IsLocal(local) || strings.ContainsRune(rel, 0) {
		return "", ErrNotInFolder
	}
	for name := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(local)), "/") {
		if strings.EqualFold(name, ".git") {
			return "", ErrGitsOwn
		}
	}
	return filepath.Join(p.real, local), nil
}

// Follow returns where a path leads by its links, relative to the folder, or why that is
// closed. Nothing needs to exist there.
func (p *ProjectFolder) Follow(rel string) (string, error) {
	full, err := p.Path(rel)
	if err != nil {
		return "", err
	}
	real := resolved(full)
	if err := p.checkReal(real); err != nil {
		return "", err
	}
	inside, err := filepath.Rel(p.real, real)
	return filepath.ToSlash(inside), err
}

func (p *ProjectFolder) checkReal(real string) error {
	inside, err := filepath.Rel(p.real, real)
	switch {
	case err != nil || !filepath.IsLocal(inside):
		return ErrLeavesIt
	case p.private.closes(real):
		return errClosed
	}
	_, err = p.Path(filepath.ToSlash(inside)) // a link may lead to git's own files
	return err
}

// Open opens a regular file for reading. A link is followed if it stays in the folder.
func (p *ProjectFolder) Open(rel string) (file *os.File, err error) {
	full, err := p.Path(rel)
	if err != nil {
		return nil, err
	}
	err = p.private.settle(full, func(real string) error {
		if err := p.checkReal(real); err != nil {
			return err
		}
		if file, err = openUnlinked(real); err != nil {
			return err
		}
		return regular(file)
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ProjectEntry is an entry of a folder. Info is nil if the entry is gone.
type ProjectEntry struct {
	fs.DirEntry
	Info fs.FileInfo
}

// Entries returns the entries of a folder, sorted by name, and at most limit of them. It ends
// with the cause of ctx when that ends.
func (p *ProjectFolder) Entries(ctx context.Context, rel string, limit int) (entries []ProjectEntry, truncated bool, err error) {
	full, err := p.Path(rel)
	if err != nil {
		return nil, false, err
	}
	var folder *os.Root
	err = p.private.settle(full, func(real string) error {
		if err := p.checkReal(real); err != nil {
			return err
		}
		folder, err = rootOf(real)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	defer folder.Close()
	all, err := entriesOf(ctx, folder)
	if err != nil {
		return nil, false, err
	}
	truncated = len(all) > limit
	for _, entry := range all[:min(len(all), limit)] {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		info, err := folder.Lstat(entry.Name())
		if err != nil {
			info = nil
		}
		entries = append(entries, ProjectEntry{entry, info})
	}
	return entries, truncated, nil
}

// Walk visits the files, folders and links below the folder, except for those that a
// .gitignore excludes. truncated is true if there are too many, or ctx has ended.
func (p *ProjectFolder) Walk(ctx context.Context, visit func(rel string, kind fs.FileMode)) (truncated bool, err error) {
	folder, real, err := p.private.openFolder(p.real)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	err = walk(ctx, folder, real, p.private, func(f found) error {
		visit(f.rel, f.entry.Type())
		return nil
	})
	if errors.Is(err, errTooMany) || err != nil && ctx.Err() != nil {
		return true, nil
	}
	return false, err
}

// Replace gives a regular file new content and permissions, or creates it, after verify has
// accepted it as it is now. No file tool writes to it in the meantime.
func (p *ProjectFolder) Replace(ctx context.Context, rel string, content []byte, mode fs.FileMode, verify func() error) error {
	return p.change(ctx, rel, verify, func(full string) error {
		if err := p.private.makeFolders(filepath.Dir(full)); err != nil {
			return err
		}
		if err := p.private.put(full, string(content), mode); err != nil {
			return err
		}
		return p.private.chmod(full, mode)
	})
}

// Remove deletes a file after verify has accepted it as it is now.
func (p *ProjectFolder) Remove(ctx context.Context, rel string, verify func() error) error {
	return p.change(ctx, rel, verify, p.private.remove)
}

// change changes a file that is reached without links.
func (p *ProjectFolder) change(ctx context.Context, rel string, verify func() error, apply func(full string) error) error {
	full, err := p.Path(rel)
	if err != nil {
		return err
	}
	if err := p.checkReal(resolved(full)); err != nil {
		return err
	}
	if resolved(full) != full {
		return fmt.Errorf("is reached by a symbolic link, and is not changed")
	}
	unlock, err := p.locks.lock(ctx, full)
	if err != nil {
		return err
	}
	defer unlock()
	if err := verify(); err != nil {
		return err
	}
	return apply(full)
}

// SortFoldersFirst sorts entries as people expect them.
func SortFoldersFirst(entries []ProjectEntry) {
	slices.SortStableFunc(entries, func(a, b ProjectEntry) int {
		switch {
		case a.IsDir() == b.IsDir():
			return strings.Compare(a.Name(), b.Name())
		case a.IsDir():
			return -1
		}
		return 1
	})
}
