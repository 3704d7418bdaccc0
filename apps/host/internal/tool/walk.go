package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// maxVisited bounds how many files and folders one search visits.
const maxVisited = 200_000

var (
	errEnough  = errors.New("enough results")
	errTooMany = errors.New("there are too many files")
)

// walker walks a folder as git sees it: files that .gitignore excludes and .git itself are
// left out, and symbolic links are not followed.
type walker struct {
	root    string // absolute, without links
	prefix  string // path of root from the top of the repository, with slashes
	private guard
	visited int
	visit   func(found) error
}

// found is a file or folder found by a walk.
type found struct {
	rel    string // relative to the start of the walk, with slashes
	entry  fs.DirEntry
	folder *os.Root // the folder it is in
}

// walk walks an open folder; real is its path without links. It ends when visit returns
// errEnough.
func walk(ctx context.Context, folder *os.Root, real string, private guard, visit func(found) error) error {
	top, rules := rulesAbove(real)
	w := &walker{root: real, private: private, visit: visit}
	if rel, err := filepath.Rel(top, real); err == nil && rel != "." {
		w.prefix = filepath.ToSlash(rel)
	}
	entries, err := entriesOf(ctx, folder)
	if err != nil {
		return err
	}
	if err := w.folder(ctx, folder, entries, "", rules); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

func (w *walker) folder(ctx context.Context, folder *os.Root, entries []fs.DirEntry, rel string, rules ignoreRules) error {
	rules = append(rules[:len(rules):len(rules)], ignoreIn(folder, path.Join(w.prefix, rel))...)
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.visited++; w.visited > maxVisited {
			return errTooMany
		}
		if err := w.entry(ctx, found{path.Join(rel, entry.Name()), entry, folder}, rules); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, f found, rules ignoreRules) error {
	if f.entry.Name() == ".git" || rules.ignored(path.Join(w.prefix, f.rel), f.entry.IsDir()) {
		return nil
	}
	if f.entry.IsDir() && w.private.closes(filepath.Join(w.root, filepath.FromSlash(f.rel))) {
		return nil
	}
	if err := w.visit(f); err != nil || !f.entry.IsDir() {
		return err
	}
	below, err := folderIn(f.folder, f.entry.Name())
	if err != nil {
		return nil // it was deleted, became a link, or is not accessible
	}
	defer below.Close()
	entries, err := entriesOf(ctx, below)
	if err != nil {
		return nil
	}
	return w.folder(ctx, below, entries, f.rel, rules)
}
