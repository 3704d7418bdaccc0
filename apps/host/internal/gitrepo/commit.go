package gitrepo

import (
	"bytes"
	"context"
	"crypto/rand"
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
	lock, err := r.lockIndex(scratch)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
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
	// Whatever can fail for lack of space comes before the branch is changed.
	if err := lock.fill(filepath.Join(v.dir, "index")); err != nil {
		return "", fmt.Errorf("gitrepo: writing the index: %w", err)
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	if _, err := r.bare(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", id, orZero(c.Head, len(id))); err != nil {
		return "", errors.Join(ErrMoved, err)
	}
	if err := lock.replace(); err != nil {
		return id, fmt.Errorf("gitrepo: the commit %.10s was made, but the index is still that of the commit before: %w", id, err)
	}
	return id, nil
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
	if err := only.checkThere(ctx, c.Paths); err != nil {
		return "", err
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

// checkThere returns ErrNoFile for a path that is neither on disk nor in the index. git would leave it
// out without a word.
func (v *View) checkThere(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if _, err := os.Lstat(filepath.Join(v.work, path)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		listed, err := v.git(ctx, maxOutput, nil, "ls-files", "-z", "--", path)
		if err == nil && len(listed) == 0 {
			err = fmt.Errorf("%s %w", path, ErrNoFile)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// indexLock is the lock of a repository's index, as git takes it.
type indexLock struct {
	path   string
	index  string
	record string // of the lock, for RemoveLocks
	put    bool   // it has become the index
}

// lockRecord begins the names of files in scratch that each hold the path of a lock. The rest of
// the name is what the lock holds until it is filled.
const lockRecord = "lock-"

// lockIndex locks the index of the repository. The caller must release the lock. If the process
// ends before, RemoveLocks does.
func (r *Repo) lockIndex(scratch string) (_ *indexLock, err error) {
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	mark := rand.Text()
	l := &indexLock{path: filepath.Join(r.dir, "index.lock"), index: filepath.Join(r.dir, "index"), record: filepath.Join(scratch, lockRecord+mark)}
	if err := os.WriteFile(l.record, []byte(l.path), 0o600); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(l.record))
		}
	}()
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString(mark)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(l.path))
	}
	return l, nil
}

// RemoveLocks removes the locks of indexes that a process left behind when it was killed. A lock
// that holds anything else may be that of another program, and stays; so does one that was filled,
// in the moment before it becomes the index.
func RemoveLocks(scratch string) error {
	records, err := filepath.Glob(filepath.Join(scratch, lockRecord+"*"))
	if err != nil {
		return err
	}
	var failed error
	for _, record := range records {
		path, err := readBounded(record, maxPath)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		lock, mark := string(path), strings.TrimPrefix(filepath.Base(record), lockRecord)
		if data, err := readBounded(lock, int64(len(mark))); err != nil || string(data) != mark {
			continue
		}
		if err := os.Remove(lock); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// maxPath bounds the path of a lock, in bytes.
const maxPath = 1 << 16

// fill writes what replace makes the index.
func (l *indexLock) fill(from string) error { return copyIndex(from, l.path, 0o644) }

// replace replaces the index with what was filled in, and releases the lock.
func (l *indexLock) replace() error {
	err := os.Rename(l.path, l.index)
	l.put = err == nil
	return err
}

// release releases the lock. After replace another program may hold it.
func (l *indexLock) release() error {
	if !l.put {
		if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(l.record); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// putIndex replaces the index with a file.
func (l *indexLock) putIndex(from string) error {
	if err := l.fill(from); err != nil {
		return err
	}
	return l.replace()
}
