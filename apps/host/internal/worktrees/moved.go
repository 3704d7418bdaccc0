package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// WriteBundle writes a git bundle of the repository of a folder, with changes that are not
// committed, except those of closed files. prefix is the path of the folder in the repository. The
// error is an *api.Error, unless it is one of to.
func (w *Worktrees) WriteBundle(ctx context.Context, folder string, closed func(path string) bool, to io.Writer) (prefix string, skipped []string, err error) {
	repo := w.find(folder)
	if repo == nil {
		return "", nil, api.Errorf(api.KindInvalidPath, "the folder %s is not in a git repository, so its files cannot be moved: move the session without them", folder)
	}
	skipped, err = repo.WriteBundle(ctx, w.Paths.GitViews(), closed, to)
	return filepath.ToSlash(repo.Prefix()), skipped, explainBundle(err)
}

func explainBundle(err error) error {
	const without = "or move the session without its files"
	var refused *api.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.Is(err, gitrepo.ErrNoCommit):
		return api.Errorf(api.KindInvalidPath, "the repository has no commit yet: commit first, %s", without)
	case errors.Is(err, gitrepo.ErrBusy):
		return api.Errorf(api.KindConflict, "an operation such as a merge is not finished in the repository: finish it, %s", without)
	case errors.Is(err, gitrepo.ErrPartial):
		return api.Errorf(api.KindInvalidPath, "the repository has only a part of its history or files (a shallow clone or a sparse checkout): fetch all of it, %s", without)
	case errors.Is(err, gitrepo.ErrFiltered):
		return api.Errorf(api.KindInvalidPath, "a filter such as git-lfs applies to a changed file: commit it, %s", without)
	case errors.Is(err, gitrepo.ErrTooLarge):
		return api.Errorf(api.KindTooLarge, "the folder has too many or too large files that are not committed: commit or ignore them, %s", without)
	case errors.Is(err, gitrepo.ErrElsewhere):
		return api.Errorf(api.KindNotAllowed, "the repository's own files are outside its folder: move the session without its files")
	case errors.Is(err, gitrepo.ErrNoGit), errors.Is(err, gitrepo.ErrTooSlow):
		return api.Errorf(api.KindUnavailable, "%v: try again, %s", err, without)
	case gitrepo.Message(err) != "":
		return api.Errorf(api.KindUnavailable, "git could not read the repository: %.300q: repair it, %s", gitrepo.Message(err), without)
	}
	return err
}

// CheckBundle checks a bundle from another host and returns how many bytes its files have.
// scratch is a folder that is used and removed. The error is an *api.Error if the bundle is bad.
func (w *Worktrees) CheckBundle(ctx context.Context, path, scratch string) (size int64, err error) {
	bundle, err := unbundle(ctx, scratch, path)
	if err := errors.Join(err, os.RemoveAll(scratch)); err != nil {
		return 0, err
	}
	return bundle.Size, nil
}

// maxReceived bounds the files of a bundle, in bytes.
const maxReceived = 8 << 30

func unbundle(ctx context.Context, dir, path string) (*gitrepo.Bundle, error) {
	if err := os.RemoveAll(dir); err != nil { // of a host that was killed
		return nil, err
	}
	bundle, err := gitrepo.Unbundle(ctx, dir, path, maxReceived)
	var bad *gitrepo.BundleError
	if errors.As(err, &bad) {
		return nil, api.Errorf(api.KindBadRequest, "the files of the session were refused: %v", bad)
	}
	return bundle, err
}

// CheckProject returns an *api.Error if no files of a session can be unpacked for a project.
func (w *Worktrees) CheckProject(project api.Project) error {
	switch {
	case w.find(project.Path) == nil:
		return api.Errorf(api.KindInvalidPath, "the folder %s on the other machine is not in a git repository, so it has no worktree for the files of the session: run git init there, choose another project, or move the session without its files", project.Path)
	case w.present() >= maxWorktrees:
		return api.Errorf(api.KindTooLarge, "the other machine has %d worktrees, which is the limit: archive or delete sessions that have one, or move the session without its files", maxWorktrees)
	}
	return nil
}

// Receive makes a worktree of a project from a bundle of another host, for sessions that are about
// to arrive from there. The first one is the parent of the others. The folder and the branch are
// new. Changes that were not committed are not committed in it either. Neither hooks nor the setup
// script run. Repeating it with the same id changes nothing. scratch is as for CheckBundle.
func (w *Worktrees) Receive(ctx context.Context, id string, project api.Project, sessionIDs []string, path, prefix, scratch string) (_ *api.Worktree, err error) {
	if t, ok := w.List.Of(sessionIDs[0]); ok && t.ID == id && t.Doing == "" {
		return w.Of(sessionIDs[0]), nil
	} else if ok {
		return nil, fmt.Errorf("worktrees: the session %s has a worktree already: %s", sessionIDs[0], t.Top)
	}
	if err := w.CheckProject(project); err != nil {
		return nil, err
	}
	repo := w.find(project.Path)
	if repo == nil {
		return nil, gitrepo.ErrElsewhere
	}
	bundle, err := unbundle(ctx, scratch, path)
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err != nil {
		return nil, err
	}
	if err := repo.Adopt(bundle); err != nil {
		return nil, explain(err)
	}
	t := state.Worktree{
		ID: id, ProjectID: project.ID, Project: project.Path, Base: bundle.Head, Files: bundle.Files, State: state.WorktreeReady,
		Sessions: map[string]state.WorktreeUse{sessionIDs[0]: state.UseActive},
	}
	for _, child := range sessionIDs[1:] {
		t.Sessions[child] = state.UseSubagent
	}
	if err := w.freeName(ctx, repo, project, &t); err != nil {
		return nil, err
	}
	if err := w.add(ctx, repo, t, bundle.Head); err != nil {
		return nil, err
	}
	if w.Step != nil {
		w.Step("added")
	}
	t.Prefix = existing(t.Top, prefix)
	if err := w.note(id, func(to *state.Worktree) { to.Doing, to.Files, to.Prefix = "", "", t.Prefix }); err != nil {
		return nil, err
	}
	return w.Of(sessionIDs[0]), nil
}

// maxNames bounds the search for a name that is free.
const maxNames = 100

// freeName sets a folder and a branch that do not exist.
func (w *Worktrees) freeName(ctx context.Context, repo *gitrepo.Repo, project api.Project, t *state.Worktree) error {
	var first string
	for id, use := range t.Sessions {
		if use == state.UseActive {
			first = shortName(id)
		}
	}
	for n := 1; n <= maxNames; n++ {
		name := first
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		t.Top, t.Branch = filepath.Join(w.Root, folderName(project), name), "scorel/"+name
		tip, err := repo.Tip(ctx, t.Branch)
		if err != nil {
			return explain(err)
		}
		if _, err := os.Lstat(t.Top); errors.Is(err, fs.ErrNotExist) && tip == "" {
			return nil
		}
	}
	return api.Errorf(api.KindConflict, "%s and %d more folders like it exist already: remove some", t.Top, maxNames-1)
}

// existing returns a path below a folder that another host named, or "" unless it is a folder
// there, and not a link that leads elsewhere.
func existing(top, prefix string) string {
	path := filepath.FromSlash(prefix)
	if prefix == "" || !filepath.IsLocal(path) {
		return ""
	}
	realTop, err := filepath.EvalSymlinks(top)
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(filepath.Join(top, path))
	if err != nil || real != filepath.Join(realTop, path) {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Clean(path)
}
