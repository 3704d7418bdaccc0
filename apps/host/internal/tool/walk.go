package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// maxVisited bounds how many files and folders one search looks at.
const maxVisited = 200_000

var (
	errEnough  = errors.New("enough was found")
	errTooMany = errors.New("there are too many files")
)

// walker goes through a folder as git would see it: what .gitignore names and
// .git itself are left out, symbolic links are not followed.
type walker struct {
	root    string // absolute
	prefix  string // of root below the top of the repository, with slashes
	private guard
	visited int
	// visit gets a path relative to root, with slashes. errEnough ends the walk.
	visit func(rel string, entry fs.DirEntry) error
}

func walk(ctx context.Context, root string, private guard, visit func(rel string, entry fs.DirEntry) error) error {
	top, rules := rulesAbove(root)
	w := &walker{root: root, private: private, visit: visit}
	if rel, err := filepath.Rel(top, root); err == nil && rel != "." {
		w.prefix = filepath.ToSlash(rel)
	}
	if err := w.folder(ctx, "", rules); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

func (w *walker) folder(ctx context.Context, rel string, rules ignoreRules) error {
	full := filepath.Join(w.root, filepath.FromSlash(rel))
	entries, err := os.ReadDir(full)
	if err != nil {
		if rel == "" {
			return err
		}
		return nil // it went away, or is closed to us
	}
	own := readIgnore(filepath.Join(full, ".gitignore"), path.Join(w.prefix, rel))
	rules = append(rules[:len(rules):len(rules)], own...)
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.visited++; w.visited > maxVisited {
			return errTooMany
		}
		if err := w.entry(ctx, path.Join(rel, entry.Name()), entry, rules); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, rel string, entry fs.DirEntry, rules ignoreRules) error {
	if entry.Name() == ".git" || rules.ignored(path.Join(w.prefix, rel), entry.IsDir()) {
		return nil
	}
	if entry.IsDir() && w.private.hides(filepath.Join(w.root, filepath.FromSlash(rel))) {
		return nil
	}
	if err := w.visit(rel, entry); err != nil {
		return err
	}
	if !entry.IsDir() {
		return nil
	}
	return w.folder(ctx, rel, rules)
}
