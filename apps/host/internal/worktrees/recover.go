package worktrees

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// Recover finishes or takes back what a host that was killed has begun. It is called once, before
// any request, with a function that looks a session up. Nothing is removed that could be
// someone's: not before the session that it was for was announced, and not before all in it was
// proven to be saved.
func (w *Worktrees) Recover(ctx context.Context, find func(sessionID string) (archived, known bool)) {
	for _, t := range w.List.List() {
		if err := w.recover(ctx, t, find); err != nil {
			w.Logger.Error("recovering a worktree: look at its folder, and remove it with git worktree remove if it is not needed", "folder", t.Top, "error", err)
		}
	}
}

func (w *Worktrees) recover(ctx context.Context, t state.Worktree, find func(string) (archived, known bool)) error {
	_, known := find(t.ID)
	var err error
	switch {
	case t.Doing == state.WorktreeAdding && t.State == state.WorktreeRemoved:
		err = w.takeBack(ctx, t)
	case t.Doing == state.WorktreeAdding && !known:
		if err := w.takeBack(ctx, t); err != nil {
			return err
		}
		return w.List.Change(t.ID, func(t *state.Worktree) { t.Sessions = nil })
	case t.Doing == state.WorktreeAdding:
		w.Created(t.ID)
	case t.Doing == state.WorktreeRemoving:
		err = w.finishRemoving(ctx, t)
	}
	if err != nil {
		return err
	}
	for id, use := range t.Sessions {
		archived, known := find(id)
		switch {
		case !known && (use == state.UseForking || use == state.UseDeleting):
			if kept := w.Forget(ctx, id); kept != nil {
				w.Logger.Warn("the worktree of a deleted session was kept", "folder", kept.Folder, "because", kept.Kept)
			}
		case known && use == state.UseForking:
			w.Created(id)
		case known && use == state.UseDeleting:
			w.setUse(t, id, use, state.UseActive)
		}
		if known && archived && use != state.UseArchived && use != state.UseSubagent {
			w.Leave(ctx, id, false)
		}
	}
	return nil
}

// takeBack removes what is left of a worktree whose making was interrupted.
func (w *Worktrees) takeBack(ctx context.Context, t state.Worktree) error {
	made := gitrepo.Worktree{Folder: t.Top, Branch: t.Branch, Files: t.Files}
	if t.State != state.WorktreeRemoved {
		made.Commit = t.Base
	}
	repo := w.find(t.Project)
	if repo == nil {
		return errors.New("the project is not in a git repository any more")
	}
	removed, err := repo.RemoveUnused(ctx, w.Paths.GitViews(), made)
	if err != nil {
		return err
	}
	if !removed {
		return errors.New("making it was interrupted, and it has files or commits of others")
	}
	if t.State == state.WorktreeRemoved {
		return w.List.Change(t.ID, func(t *state.Worktree) { t.Doing = "" })
	}
	if t.Files != "" { // its commits came from another host, which is asked for them again
		return repo.DeleteBranchAt(ctx, t.Branch, t.Base)
	}
	_, err = repo.DeleteMerged(ctx, t.Branch)
	return err
}

// finishRemoving removes what is left of a worktree whose removal was interrupted. Before its
// folder was moved aside, nothing had happened.
func (w *Worktrees) finishRemoving(ctx context.Context, t state.Worktree) error {
	if _, err := os.Lstat(t.Top); !errors.Is(err, fs.ErrNotExist) {
		return w.List.Change(t.ID, func(t *state.Worktree) { t.Doing = "" })
	}
	if repo := w.find(t.Project); repo != nil {
		if err := w.removeFolder(ctx, repo, t); err != nil {
			return err
		}
	}
	return w.List.Change(t.ID, func(t *state.Worktree) { t.State, t.Doing, t.Kept = state.WorktreeRemoved, "", "" })
}
