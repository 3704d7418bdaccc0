package gitrepo

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxPointer bounds files that name another folder, in bytes.
const maxPointer = 4 << 10

// Repo is the repository that a folder lies in.
type Repo struct {
	work   string // the folder: absolute, without links
	top    string // the folder that holds .git
	dir    string // the git directory, without links
	common string // the git directory that holds objects and branches: dir, but for a worktree
}

// Find looks for the repository of a folder, as git does, and runs nothing. It returns nil if
// there is none, or if refused reports true for one of its directories.
func Find(work string, refused func(path string) bool) *Repo {
	for top := work; ; top = filepath.Dir(top) {
		if dir, ok := gitDir(filepath.Join(top, ".git")); ok {
			r := &Repo{work: work, top: top, dir: dir, common: commonDir(dir)}
			if refused(r.dir) || refused(r.common) {
				return nil
			}
			return r
		}
		if filepath.Dir(top) == top {
			return nil
		}
	}
}

// gitDir returns the directory that a .git is or names.
func gitDir(path string) (string, bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case !info.IsDir():
		target, named := strings.CutPrefix(pointer(path), "gitdir: ")
		if !named {
			return "", false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	_, err = os.Lstat(filepath.Join(real, "HEAD"))
	return real, err == nil
}

func commonDir(dir string) string {
	target := pointer(filepath.Join(dir, "commondir"))
	if target == "" {
		return dir
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return dir
	}
	return real
}

// pointer returns the text of a short regular file without its line ending, or "".
func pointer(path string) string {
	data, err := readBounded(path, maxPointer)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(data), "\r\n")
}

// readBounded reads a regular file of at most limit bytes. It never waits for a pipe.
func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file, or too large")}
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

// owned reports whether a person may commit: the git directory belongs to this very folder,
// and not to another one that a file in the project names.
func (r *Repo) owned() bool {
	own := filepath.Join(r.top, ".git")
	if info, err := os.Lstat(own); err == nil && info.IsDir() && r.dir == own && r.common == r.dir {
		return true
	}
	back := pointer(filepath.Join(r.dir, "gitdir")) // of a worktree; only git writes it
	return back == own && filepath.Dir(filepath.Dir(r.dir)) == r.common
}

// branchName matches the HEAD of a branch.
var branchName = regexp.MustCompile(`^ref: refs/heads/([^\x00-\x20\x7f~^:?*\[\\]+)$`)

// Branch returns the name of the current branch, or "" on a commit without one.
func (r *Repo) Branch() string {
	if name := branchName.FindStringSubmatch(pointer(filepath.Join(r.dir, "HEAD"))); name != nil {
		return name[1]
	}
	return ""
}

// Busy names the operation that is not finished, or is "".
func (r *Repo) Busy() string {
	for _, sign := range []struct{ file, operation string }{
		{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(r.dir, sign.file)); err == nil {
			return sign.operation
		}
	}
	return ""
}

// Head returns the id of the current commit, or "" before the first one.
func (r *Repo) Head(ctx context.Context) (string, error) {
	out, err := r.bare(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	var failed *exitError
	if errors.As(err, &failed) && failed.code == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// commitID matches ids of commits, in full or shortened.
var commitID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// resolve returns the full id of a commit.
func (r *Repo) resolve(ctx context.Context, id string) (string, error) {
	if !commitID.MatchString(id) {
		return "", ErrUnknown
	}
	out, err := r.bare(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", id+"^{commit}")
	var failed *exitError
	if errors.As(err, &failed) {
		return "", ErrUnknown
	}
	return strings.TrimSpace(string(out)), err
}
