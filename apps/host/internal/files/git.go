package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/packages/protocol/api"
)

// withView runs a function with a view of the folder that a request is about.
func (f *Files) withView(ctx context.Context, p api.Place, use func(*place, *gitrepo.View) error) error {
	release, err := f.slot(ctx)
	if err != nil {
		return err
	}
	defer release()
	at, err := f.placeOf(p)
	if err != nil {
		return err
	}
	if at.repo == nil {
		return at.noRepository()
	}
	v, err := gitrepo.NewView(ctx, f.Paths.GitViews(), at.folder.Dir(), at.repo)
	if err != nil {
		return gitError(err)
	}
	return gitError(errors.Join(use(at, v), v.Close()))
}

// gitError explains an error of git.
func gitError(err error) error {
	var refused *api.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.Is(err, gitrepo.ErrNoGit):
		return api.Errorf(api.KindUnavailable, "git is not installed on this machine: install it")
	case errors.Is(err, gitrepo.ErrTooSlow):
		return api.Errorf(api.KindUnavailable, "git did not finish in time: the repository may be too large, or the disk busy. Try again, or use a terminal")
	case errors.Is(err, gitrepo.ErrUnknown):
		return api.Errorf(api.KindNotFound, "the repository has no such commit: list the commits to see their ids")
	case errors.Is(err, gitrepo.ErrMoved):
		return api.Errorf(api.KindConflict, "the repository has changed in the meantime: load its status again")
	case errors.Is(err, gitrepo.ErrBusy):
		return api.Errorf(api.KindConflict, "git is busy in this repository, or an operation such as a merge is not finished: finish it in a terminal")
	case errors.Is(err, gitrepo.ErrNothingToDo):
		return api.Errorf(api.KindConflict, "there is nothing to commit: the files match the current commit")
	case errors.Is(err, gitrepo.ErrNoIdentity):
		return api.Errorf(api.KindUnavailable, "git does not know your name: set user.name and user.email on the machine with git config --global")
	case errors.Is(err, gitrepo.ErrElsewhere):
		return api.Errorf(api.KindNotAllowed, "the repository's own files are outside its folder: commit in a terminal")
	case errors.Is(err, gitrepo.ErrFiltered):
		return api.Errorf(api.KindNotAllowed, "a filter such as git-lfs applies to one of the files: use a terminal")
	case errors.Is(err, gitrepo.ErrNoFile):
		return api.Errorf(api.KindNotFound, "%v", err)
	case errors.Is(err, gitrepo.ErrNotAFile):
		return api.Errorf(api.KindInvalidPath, "only regular files can be reverted: this one was a link or a separate repository")
	case gitrepo.Message(err) != "":
		return api.Errorf(api.KindUnavailable, "git failed: %.300q", gitrepo.Message(err))
	}
	return err
}

func (f *Files) gitStatus(ctx context.Context, _ *dispatch.Conn, r api.GitStatusRequest) (response api.GitStatusResponse, err error) {
	response.Files = []api.GitFile{}
	at, err := f.placeOf(r.Place)
	if err != nil || at.repo == nil {
		return response, err
	}
	err = f.withView(ctx, r.Place, func(at *place, v *gitrepo.View) error {
		files, truncated, err := v.Status(ctx, api.MaxFileEntries)
		if err != nil {
			return err
		}
		branch := at.repo.Branch()
		tracking, err := at.repo.Tracking(ctx, branch)
		if err != nil {
			return err
		}
		response = api.GitStatusResponse{
			Repository: true, Branch: branch, Head: v.Head(), Upstream: tracking.Upstream, Ahead: tracking.Ahead, Behind: tracking.Behind,
			Busy: at.repo.Busy(), Files: append(response.Files, files...), Truncated: truncated,
		}
		return nil
	})
	return response, err
}

func (f *Files) gitDiff(ctx context.Context, _ *dispatch.Conn, r api.GitDiffRequest) (response api.GitDiffResponse, err error) {
	err = f.withView(ctx, r.Place, func(at *place, v *gitrepo.View) error {
		full, err := at.inside(r.Path)
		if err != nil {
			return err
		}
		between, truncated, err := rangeOf(ctx, at, v, r)
		if err != nil {
			return err
		}
		response.Files, response.Truncated, err = at.differences(ctx, v, between, r.Path)
		response.Truncated = response.Truncated || truncated
		if err == nil && r.Commit == "" && len(response.Files) == 0 && missing(full) { // a file of the commit would differ
			return fmt.Errorf("%s %w", r.Path, gitrepo.ErrNoFile)
		}
		return err
	})
	return response, err
}

// inside returns the absolute path of a file or folder that a request names, without following links.
func (at *place) inside(path string) (string, error) {
	full, err := at.folder.Path(path)
	if err != nil {
		return "", fileError(path, err)
	}
	return full, nil
}

func missing(full string) bool {
	_, err := os.Lstat(full)
	return errors.Is(err, fs.ErrNotExist)
}

func rangeOf(ctx context.Context, at *place, v *gitrepo.View, r api.GitDiffRequest) (between gitrepo.Range, truncated bool, err error) {
	if r.Commit != "" {
		between, err = v.Commit(ctx, r.Commit)
		return between, false, err
	}
	if _, truncated, err = v.IncludeUntracked(ctx, noFile, only(r.Path)...); err != nil {
		return between, false, err
	}
	between, err = v.Uncommitted(ctx)
	return between, truncated, err
}

// noFile leaves out no file: one that is closed is listed without its content.
func noFile(string) bool { return false }

func only(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// differences lists the files that differ, or the one with its diff.
func (at *place) differences(ctx context.Context, v *gitrepo.View, between gitrepo.Range, path string) ([]api.FileChange, bool, error) {
	files, truncated, err := v.List(ctx, between, api.MaxFileEntries, only(path)...)
	if err != nil {
		return nil, false, err
	}
	for i := range files {
		file := &files[i]
		if at.closed(file.Path) || file.From != "" && at.closed(file.From) {
			*file = api.FileChange{Path: file.Path, From: file.From, Status: file.Status, Closed: true}
			continue
		}
		if path != "" {
			if file.Diff, file.Cut, err = v.Diff(ctx, between, *file, api.MaxFileDiff); err != nil {
				return nil, false, err
			}
		}
	}
	return files, truncated, nil
}

func (f *Files) gitLog(ctx context.Context, _ *dispatch.Conn, r api.GitLogRequest) (response api.GitLogResponse, err error) {
	if r.Limit == 0 || r.Limit > api.MaxCommits {
		r.Limit = api.MaxCommits
	}
	err = f.withView(ctx, r.Place, func(_ *place, v *gitrepo.View) (err error) {
		response.Commits, response.Next, err = v.Log(ctx, r.From, r.Limit)
		return err
	})
	return response, err
}

func (f *Files) gitBranches(ctx context.Context, _ *dispatch.Conn, r api.GitBranchesRequest) (response api.GitBranchesResponse, err error) {
	err = f.withView(ctx, r.Place, func(at *place, _ *gitrepo.View) (err error) {
		response.Branches, err = at.repo.Branches(ctx, api.MaxBranches)
		return err
	})
	return response, err
}

// madeCommits are the latest commits by the keys of the requests that made them.
type madeCommits []madeCommit

type madeCommit struct{ clientID, key, projectID, id string }

// maxMade bounds how many commits are remembered.
const maxMade = 256

func (f *Files) gitCommit(ctx context.Context, c *dispatch.Conn, r api.GitCommitRequest) (response api.GitCommitResponse, err error) {
	if err := mayWrite(c); err != nil {
		return response, err
	}
	if !hasText(r.Message) {
		return response, api.Errorf(api.KindBadRequest, "the message of the commit is empty: say what it changes")
	}
	release, err := f.slot(ctx)
	if err != nil {
		return response, err
	}
	defer release()
	at, err := f.placeOf(r.Place)
	if err != nil {
		return response, err
	}
	if at.repo == nil {
		return response, at.noRepository()
	}
	for _, path := range r.Paths {
		if err := at.checkOpen(path); err != nil {
			return response, err
		}
	}
	f.commits.Lock()
	defer f.commits.Unlock()
	key := madeCommit{clientID: c.ClientID(), key: r.ClientKey, projectID: at.project.ID}
	if i := slices.IndexFunc(f.made, func(m madeCommit) bool {
		return m.clientID == key.clientID && m.key == key.key && m.projectID == key.projectID
	}); i >= 0 {
		return api.GitCommitResponse{Commit: f.made[i].id}, nil
	}
	key.id, err = at.repo.Commit(ctx, f.Paths.GitViews(), gitrepo.Commit{Head: r.Head, Message: r.Message, Paths: r.Paths})
	if err != nil {
		return response, gitError(err)
	}
	f.made = append(f.made, key)
	f.made = f.made[max(0, len(f.made)-maxMade):]
	f.Logger.Info("committed for a client", "client", c.ClientID(), "project", at.project.ID, "commit", key.id)
	return api.GitCommitResponse{Commit: key.id}, nil
}
