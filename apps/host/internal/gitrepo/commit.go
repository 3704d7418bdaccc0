package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Commit is a commit to make.
type Commit struct {
	Head    string   // the current commit as the person saw it; "" before the first one
	Message string   // at least one character that is not blank
	Paths   []string // files, relative to the folder
}

// Commit commits the present content of some files and nothing else, and returns the id of the
// commit. What else is in the index stays there. No hook runs, and nothing is signed. scratch
// is as for NewView.
func (r *Repo) Commit(ctx context.Context, scratch string, c Commit) (_ string, err error) {
	switch {
	case !r.owned() || !isFolder(filepath.Join(r.common, "objects")):
		return "", ErrElsewhere
	case r.Busy() != "":
		return "", ErrBusy
	}
	release, err := r.lockIndex()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	v, err := NewView(ctx, scratch, r.work, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if v.head != c.Head {
		return "", ErrMoved
	}
	v.objects, v.more = filepath.Join(r.common, "objects"), ""
	if filtered, err := v.filtered(ctx, c.Paths); err != nil || filtered != "" {
		return "", errors.Join(err, fmt.Errorf("%s: %w", filtered, ErrFiltered))
	}
	if err := v.stage(ctx, c.Paths); err != nil { // in the copy of the index
		return "", err
	}
	id, err := v.commitOnly(ctx, c)
	if err != nil {
		return "", err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	if _, err := r.bare(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", id, orZero(c.Head, len(id))); err != nil {
		return "", errors.Join(ErrMoved, err)
	}
	return id, r.putIndex(filepath.Join(v.dir, "index"))
}

// isFolder reports whether a path is a folder and not a link.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func orZero(id string, length int) string {
	if id == "" {
		return strings.Repeat("0", length)
	}
	return id
}

// stage adds the present content of files to the view's index.
func (v *View) stage(ctx context.Context, paths []string) error {
	_, err := v.git(ctx, maxOutput, []byte(strings.Join(paths, "\x00")+"\x00"), "update-index", "-z", "--add", "--remove", "--stdin")
	return err
}

// commitOnly makes a commit of the current one and some files, from an index of its own.
func (v *View) commitOnly(ctx context.Context, c Commit) (string, error) {
	only := *v
	only.index = filepath.Join(v.dir, "commit-index")
	if v.head != "" {
		if _, err := only.git(ctx, maxOutput, nil, "read-tree", v.head); err != nil {
			return "", err
		}
	}
	if err := only.stage(ctx, c.Paths); err != nil {
		return "", err
	}
	tree, err := only.git(ctx, maxOutput, nil, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", strings.TrimSpace(string(tree)), "-F", "-"}
	if v.head != "" {
		before, err := only.git(ctx, maxOutput, nil, "rev-parse", v.head+"^{tree}")
		if err != nil {
			return "", err
		}
		if bytes.Equal(before, tree) {
			return "", ErrNothingToDo
		}
		args = append(args, "-p", v.head)
	}
	id, err := only.git(ctx, maxOutput, []byte(strings.TrimSpace(c.Message)+"\n"), args...)
	var failed *exitError
	if errors.As(err, &failed) && (strings.Contains(failed.message, "tell me who you are") || strings.Contains(failed.message, "identity")) {
		return "", ErrNoIdentity
	}
	return strings.TrimSpace(string(id)), err
}

// filtered returns the first path to which a filter applies, or "".
func (v *View) filtered(ctx context.Context, paths []string) (string, error) {
	out, err := v.git(ctx, maxOutput, []byte(strings.Join(paths, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return "", err
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if value := fields[i+2]; value != "unspecified" && value != "unset" {
			return fields[i], nil
		}
	}
	return "", nil
}

// lockIndex locks the index of the repository as git does.
func (r *Repo) lockIndex() (release func() error, err error) {
	lock := filepath.Join(r.dir, "index.lock")
	file, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}, file.Close()
}

// putIndex replaces the index of the repository, whose lock is held.
func (r *Repo) putIndex(from string) error {
	lock := filepath.Join(r.dir, "index.lock")
	if err := copyIndex(from, lock, 0o644); err != nil {
		return err
	}
	return os.Rename(lock, filepath.Join(r.dir, "index"))
}
