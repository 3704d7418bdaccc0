package gitrepo

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
	"time"
)

// checkoutTime bounds how long the files of a worktree may take to be written.
const checkoutTime = 10 * time.Minute

// Worktree is a worktree to make.
type Worktree struct {
	Folder string // absolute; it must not exist
	Branch string // short name
	Commit string // full id; "" if the branch exists already
	// Files is the full id of a commit whose files are written instead, so that they are
	// changes that are not committed; "" for none.
	Files string
}

// AddWorktree makes a worktree with the files of a branch, which is created at Commit unless
// that is "". No hook of the repository runs, and neither does a filter that its settings name.
// Files of git-lfs stay as they are in the commit. scratch is as for NewView.
func (r *Repo) AddWorktree(ctx context.Context, scratch string, w Worktree) (err error) {
	if err := r.checkOwned(); err != nil {
		return err
	}
	args := []string{"worktree", "add", "--quiet", "--no-checkout"}
	if w.Commit != "" {
		args = append(args, "--no-track", "-b", w.Branch, "--", w.Folder, w.Commit)
	} else {
		args = append(args, "--", w.Folder, w.Branch)
	}
	if _, err := r.bare(ctx, args...); err != nil {
		return err
	}
	defer func() {
		if err != nil { // nothing was changed there yet
			err = errors.Join(err, r.RemoveWorktree(w.Folder))
			if w.Commit != "" {
				_, deleteErr := r.bare(context.WithoutCancel(ctx), "update-ref", "-d", "refs/heads/"+w.Branch, w.Commit)
				err = errors.Join(err, deleteErr)
			}
		}
	}()
	tree := Find(w.Folder, func(string) bool { return false })
	if tree == nil || tree.common != r.common || !tree.owned() {
		return ErrElsewhere
	}
	return tree.checkOut(ctx, scratch, w.Files)
}

// checkOwned refuses a repository that is not the folder's own, or whose parts are elsewhere.
func (r *Repo) checkOwned() error {
	if !r.owned() {
		return ErrElsewhere
	}
	for _, name := range []string{"objects", "refs", "refs/heads", "worktrees", "logs"} {
		if info, err := os.Lstat(filepath.Join(r.common, name)); err == nil && !info.IsDir() {
			return ErrElsewhere
		}
	}
	return nil
}

// checkOut writes the files of the current commit, or those of another one, to a new worktree, and
// its index, which is that of the current commit.
func (r *Repo) checkOut(ctx context.Context, scratch, files string) (err error) {
	lock, err := r.lockIndex(scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	v, err := NewView(ctx, scratch, r.work, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if v.head == "" {
		return ErrNoCommit
	}
	env := append(v.environment(), "GIT_LFS_SKIP_SMUDGE=1")
	write := command{dir: v.work, env: env, args: []string{"read-tree", "--reset", "-u", cmp.Or(files, v.head)}, limit: maxOutput, time: checkoutTime, dies: true}
	if _, err := run(ctx, write); err != nil {
		return err
	}
	if files == "" {
		return lock.putIndex(filepath.Join(v.dir, "index"))
	}
	v.index = filepath.Join(v.dir, "fresh-index")
	if _, err := v.git(ctx, maxOutput, nil, "read-tree", v.head); err != nil {
		return err
	}
	return lock.putIndex(v.index)
}

// RemoveWorktree removes the folder of a worktree and what the repository holds about it, and
// leaves its branch. It does not look at the files: see Unsaved. If the process ends before it
// returns, the folder has either all of its files or is gone, and calling it again does the rest.
// Files that cannot be removed, such as another user's, are left beside the folder, which is gone
// all the same; the error names one.
func (r *Repo) RemoveWorktree(folder string) error {
	name, err := r.worktreeName(folder)
	if err != nil {
		return err
	}
	aside := filepath.Join(filepath.Dir(folder), ".removed-"+filepath.Base(folder))
	err = os.RemoveAll(aside)
	if moveErr := os.Rename(folder, aside); moveErr != nil && !errors.Is(moveErr, fs.ErrNotExist) {
		return fmt.Errorf("gitrepo: removing a worktree: %w", errors.Join(err, moveErr))
	}
	if err = os.RemoveAll(aside); name != "" { // or git would not make the folder again
		err = errors.Join(err, r.forget(name))
	}
	if err != nil {
		return fmt.Errorf("gitrepo: removing a worktree: %w", err)
	}
	return nil
}

// forget removes what the repository holds about a worktree.
func (r *Repo) forget(name string) error {
	root, err := os.OpenRoot(r.common)
	if err != nil {
		return err
	}
	return errors.Join(root.RemoveAll(filepath.Join("worktrees", name)), root.Close())
}

// worktreeName returns the name by which the repository knows a worktree, whether or not its
// folder exists, or "".
func (r *Repo) worktreeName(folder string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("gitrepo: listing worktrees: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && pointer(filepath.Join(r.common, "worktrees", entry.Name(), "gitdir")) == filepath.Join(folder, ".git") {
			return entry.Name(), nil
		}
	}
	return "", nil
}

// Unsaved is what would be lost with a worktree.
type Unsaved string

const (
	Saved         Unsaved = ""            // nothing but ignored files that belong to no repository
	UnsavedFiles  Unsaved = "uncommitted" // changed or new files
	UnsavedWork   Unsaved = "operation"   // a merge or the like that is not finished
	UnsavedCommit Unsaved = "commits"     // commits that are on no branch
	UnsavedRepo   Unsaved = "repository"  // a repository below, such as a submodule
)

// Unsaved tells what would be lost if the worktree of a folder was removed. A worktree whose
// folder is gone is compared by its commit only.
func (r *Repo) Unsaved(ctx context.Context, scratch, folder string) (Unsaved, error) {
	name, err := r.worktreeName(folder)
	if err != nil || name == "" {
		return Saved, err
	}
	dir := filepath.Join(r.common, "worktrees", name)
	tree := &Repo{work: folder, top: folder, dir: dir, common: r.common}
	if tree.Busy() != "" {
		return UnsavedWork, nil
	}
	if _, err := os.Lstat(filepath.Join(dir, "locked")); err == nil {
		return UnsavedWork, nil // a person locked it with git
	}
	head, err := tree.Head(ctx)
	if err != nil {
		return "", err
	}
	if refs, err := r.refsWith(ctx, head); err != nil || len(refs) == 0 {
		return UnsavedCommit, err
	}
	if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
		return Saved, nil
	}
	if !tree.owned() {
		return "", ErrElsewhere
	}
	return tree.unsavedFiles(ctx, scratch, head)
}

// unsavedFiles compares the files with the current commit. The index is a fresh one: flags in
// the repository's could hide changes.
func (r *Repo) unsavedFiles(ctx context.Context, scratch, head string) (_ Unsaved, err error) {
	v, err := NewView(ctx, scratch, r.work, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	staged, err := v.git(ctx, maxOutput, nil, "diff-index", "--cached", "--name-only", "-z", head, "--")
	if err != nil || len(staged) > 0 {
		return UnsavedFiles, err
	}
	v.index = filepath.Join(v.dir, "fresh-index")
	if _, err := v.git(ctx, maxOutput, nil, "read-tree", head); err != nil {
		return "", err
	}
	out, err := v.git(ctx, maxOutput, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
	if len(out) > 0 || err != nil {
		for record := range strings.SplitSeq(string(out), "\x00") {
			if strings.HasPrefix(record, "?? ") && strings.HasSuffix(record, "/") {
				return UnsavedRepo, err
			}
		}
		return UnsavedFiles, err
	}
	tracked, err := v.git(ctx, maxOutput, nil, "ls-files", "-z")
	if err != nil {
		return "", err
	}
	holds, err := holdsRepository(ctx, r.top, strings.Split(string(tracked), "\x00"))
	if err != nil || holds {
		return UnsavedRepo, err
	}
	return Saved, nil
}

// maxSearched bounds the files among which a repository is looked for.
const maxSearched = 3_000_000

// holdsRepository reports whether there is a repository below the top of a worktree, or may be
// one because there are too many files. Git itself does not name one in a folder that it
// ignores, or beside files that it tracks. A folder that cannot be listed is skipped: nothing
// in it can be removed either. One whose HEAD is tracked is data of the project.
func holdsRepository(ctx context.Context, top string, tracked []string) (bool, error) {
	found, left := false, maxSearched
	err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		left--
		switch name := filepath.Base(path); {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case left < 0:
			found = true
		case strings.EqualFold(name, ".git"):
			found = filepath.Dir(path) != top
		case name == "HEAD" && isFolder(filepath.Join(filepath.Dir(path), "refs")) && isFolder(filepath.Join(filepath.Dir(path), "objects")):
			rel, err := filepath.Rel(top, path)
			if err != nil {
				return err
			}
			found = !slices.Contains(tracked, filepath.ToSlash(rel))
		}
		if found {
			return filepath.SkipAll
		}
		return nil
	})
	return found, err
}

// refsWith returns the names of the branches, local and remote, that contain a commit.
func (r *Repo) refsWith(ctx context.Context, commit string) ([]string, error) {
	if commit == "" {
		return nil, nil
	}
	out, err := r.bare(ctx, "for-each-ref", "--contains", commit, "--format=%(refname)", "refs/heads/", "refs/remotes/")
	return strings.Fields(string(out)), err
}

// Tip returns the id of the last commit of a branch; "" if there is no such branch.
func (r *Repo) Tip(ctx context.Context, branch string) (string, error) {
	out, err := r.bare(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch+"^{commit}")
	var failed *exitError
	if errors.As(err, &failed) && failed.code == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Remotes returns the addresses of the repository's remotes, as they are configured.
func (r *Repo) Remotes(ctx context.Context) ([]string, error) {
	if err := r.checkOwned(); err != nil {
		return nil, err
	}
	out, err := r.bare(ctx, "config", "--local", "-z", "--get-regexp", `^remote\..*\.url$`)
	var failed *exitError
	if errors.As(err, &failed) && failed.code == 1 { // there are none
		return nil, nil
	}
	var addresses []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if _, address, ok := strings.Cut(entry, "\n"); ok {
			addresses = append(addresses, address)
		}
	}
	return addresses, err
}

// DeleteMerged deletes a branch if another branch contains all of its commits, and reports
// whether it did.
func (r *Repo) DeleteMerged(ctx context.Context, branch string) (bool, error) {
	if err := r.checkOwned(); err != nil {
		return false, err
	}
	tip, err := r.Tip(ctx, branch)
	if err != nil || tip == "" {
		return false, err
	}
	refs, err := r.refsWith(ctx, tip)
	if err != nil || len(refs) < 2 { // one of them is the branch itself
		return false, err
	}
	_, err = r.bare(ctx, "update-ref", "-d", "refs/heads/"+branch, tip)
	return err == nil, err
}

// DeleteBranchAt deletes a branch if it is at a commit. One that does not exist is no error.
func (r *Repo) DeleteBranchAt(ctx context.Context, branch, commit string) error {
	if err := r.checkOwned(); err != nil {
		return err
	}
	tip, err := r.Tip(ctx, branch)
	if err != nil || tip != commit {
		return err
	}
	_, err = r.bare(ctx, "update-ref", "-d", "refs/heads/"+branch, commit)
	return err
}

// Prefix is the path of the folder below the top of the repository, or "".
func (r *Repo) Prefix() string {
	rel, err := filepath.Rel(r.top, r.work)
	if err != nil || rel == "." {
		return ""
	}
	return rel
}

// Top returns the folder that holds the repository.
func (r *Repo) Top() string { return r.top }

// Dir returns the git directory if it is an ordinary one in the very folder, or "".
func (r *Repo) Dir() string {
	if r.work == r.top && r.dir == filepath.Join(r.top, ".git") && r.owned() {
		return r.dir
	}
	return ""
}
