package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// RemoveUnused removes a worktree whose making was interrupted. It reports false, and removes
// nothing, if something is there that making it did not write: another file, or another commit.
// If Commit is "", the worktree was there before, so that people know its folder: a file with other
// content is then theirs too, and not one that was not written to its end.
func (r *Repo) RemoveUnused(ctx context.Context, scratch string, w Worktree) (bool, error) {
	used, err := r.used(ctx, scratch, w)
	if err != nil || used {
		return false, err
	}
	return true, r.RemoveWorktree(w.Folder)
}

func (r *Repo) used(ctx context.Context, scratch string, w Worktree) (bool, error) {
	tip, err := r.Tip(ctx, w.Branch)
	if err != nil || tip != "" && w.Commit != "" && tip != w.Commit {
		return err == nil, err
	}
	files, err := os.ReadDir(w.Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case len(files) == 0 || len(files) == 1 && files[0].Name() == ".git" && files[0].Type().IsRegular():
		return false, nil
	}
	name, err := r.worktreeName(w.Folder)
	if err != nil || name == "" {
		return err == nil, err
	}
	tree := &Repo{work: w.Folder, top: w.Folder, dir: filepath.Join(r.common, "worktrees", name), common: r.common}
	head, err := tree.Head(ctx)
	if err != nil || !tree.owned() || head == "" || head != cmp.Or(w.Commit, tip) {
		return err == nil, err
	}
	return tree.hasOthers(ctx, scratch, cmp.Or(w.Files, head), w.Commit == "")
}

// hasOthers reports whether a folder has files that its commit does not name, except for ignored
// ones, or with changed also files with other content.
func (r *Repo) hasOthers(ctx context.Context, scratch, head string, changed bool) (_ bool, err error) {
	v, err := NewView(ctx, scratch, r.work, r)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	v.index = filepath.Join(v.dir, "fresh-index")
	if _, err := v.git(ctx, maxOutput, nil, "read-tree", head); err != nil {
		return false, err
	}
	out, err := v.git(ctx, maxOutput, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
	for record := range strings.SplitSeq(string(out), "\x00") {
		if strings.HasPrefix(record, "??") || changed && record != "" && !strings.HasPrefix(record, " D") {
			return true, err
		}
	}
	return false, err
}
