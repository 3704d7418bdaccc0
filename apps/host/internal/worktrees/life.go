package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Enter prepares the worktree of a session for work, and says what is to be done first. A
// worktree that was removed is made again from its branch. The error is an *api.Error.
func (w *Worktrees) Enter(ctx context.Context, sessionID string) (entered sessions.Entered, err error) {
	w.using.Lock()
	defer w.using.Unlock()
	t, ok := w.List.Of(sessionID)
	if !ok {
		return entered, nil
	}
	if t.State == state.WorktreeRemoved {
		if err := w.makeAgain(ctx, t); err != nil {
			return entered, err
		}
		entered.Again, t.State = true, state.WorktreeMade
	} else if _, err := os.Stat(filepath.Join(t.Top, ".git")); err != nil {
		return entered, api.Errorf(api.KindInvalidPath,
			"the worktree of this session, %s, is missing: restore the folder, or archive the session and send the prompt again, which makes the worktree again from the branch %s", t.Top, t.Branch)
	}
	use, now := t.Sessions[sessionID], t.State
	if use == state.UseArchived || entered.Again {
		if err := w.note(t.ID, func(t *state.Worktree) {
			t.State, t.Kept, t.Tip, t.Doing = now, "", "", ""
			if use == state.UseArchived {
				t.Sessions[sessionID] = state.UseActive
			}
		}); err != nil {
			return entered, err
		}
	}
	if now != state.WorktreeMade || use == state.UseSubagent { // the parent of a subagent does the rest
		return entered, nil
	}
	if info, err := os.Lstat(filepath.Join(folderOf(t), SetupScript)); err == nil && info.Mode().IsRegular() {
		entered.Setup, entered.Untrusted = SetupScript, !w.Trusted(t.Project)
		return entered, nil
	}
	return entered, w.Settled(sessionID)
}

// note changes what is recorded of a worktree. The error is an *api.Error.
func (w *Worktrees) note(id string, change func(*state.Worktree)) error {
	if err := w.List.Change(id, change); err != nil {
		return api.Errorf(api.KindUnavailable, "the state of the worktree could not be recorded: %v", err)
	}
	return nil
}

// Settled records that the setup of a session's worktree was run, or is not to be run.
func (w *Worktrees) Settled(sessionID string) error {
	t, ok := w.List.Of(sessionID)
	if !ok || t.State != state.WorktreeMade {
		return nil
	}
	return w.note(t.ID, func(t *state.Worktree) { t.State = state.WorktreeReady })
}

// makeAgain makes the folder of a worktree that was removed. Its branch was kept, or deleted
// because another one had its commits.
func (w *Worktrees) makeAgain(ctx context.Context, t state.Worktree) error {
	repo := w.find(t.Project)
	if repo == nil {
		return api.Errorf(api.KindInvalidPath, "the worktree of this session cannot be made again, because %s is not in a git repository any more: restore it", t.Project)
	}
	tip, err := repo.Tip(ctx, t.Branch)
	if err != nil {
		return explain(err)
	}
	commit := t.Tip
	if tip != "" {
		commit = ""
	} else if commit == "" {
		commit = t.Base
	}
	return w.add(ctx, repo, t, commit)
}

// Leave records that a session was archived, and removes its worktree if it was the last one
// there and nothing is lost. busy says that the session was still working.
func (w *Worktrees) Leave(ctx context.Context, sessionID string, busy bool) {
	w.using.Lock()
	defer w.using.Unlock()
	t, ok := w.List.Of(sessionID)
	if !ok || t.State == state.WorktreeRemoved || t.Sessions[sessionID] == state.UseSubagent {
		return
	}
	t.Sessions = maps.Clone(t.Sessions)
	t.Sessions[sessionID] = state.UseArchived
	kept, tip := w.removeUnless(ctx, t, busy)
	if err := w.List.Change(t.ID, func(t *state.Worktree) {
		t.Sessions[sessionID], t.Kept = state.UseArchived, string(kept)
		if t.Doing = ""; kept == "" {
			t.State, t.Tip = state.WorktreeRemoved, tip
		}
	}); err != nil {
		w.Logger.Error("recording what became of a worktree", "folder", t.Top, "error", err)
	}
}

// Forget is Leave for a session that was deleted. It returns the worktree if that was kept for
// none but people.
func (w *Worktrees) Forget(ctx context.Context, sessionID string) *api.Worktree {
	w.using.Lock()
	defer w.using.Unlock()
	t, ok := w.List.Of(sessionID)
	if !ok {
		return nil
	}
	use := t.Sessions[sessionID]
	t.Sessions = maps.Clone(t.Sessions)
	delete(t.Sessions, sessionID)
	var kept api.WorktreeKept
	tip := t.Tip
	if t.State != state.WorktreeRemoved && use != state.UseSubagent {
		kept, tip = w.removeUnless(ctx, t, false)
	}
	removed := t.State == state.WorktreeRemoved || kept == ""
	if err := w.List.Change(t.ID, func(t *state.Worktree) {
		if delete(t.Sessions, sessionID); removed && use != state.UseSubagent {
			t.State, t.Kept, t.Tip = state.WorktreeRemoved, "", tip
		}
		t.Doing = ""
	}); err != nil {
		w.Logger.Error("forgetting a worktree", "folder", t.Top, "error", err)
	}
	if removed || kept == api.KeptShared {
		return nil
	}
	return &api.Worktree{Folder: folderOf(t), Branch: t.Branch, Base: t.Base, Kept: kept}
}

// removeUnless removes the folder of a worktree, and returns why it did not, or the last commit
// of its branch.
func (w *Worktrees) removeUnless(ctx context.Context, t state.Worktree, busy bool) (kept api.WorktreeKept, tip string) {
	if busy {
		return api.KeptBusy, ""
	}
	for _, use := range t.Sessions {
		if use != state.UseArchived && use != state.UseSubagent {
			return api.KeptShared, ""
		}
	}
	kept, tip, err := w.removeSaved(ctx, t)
	if err != nil {
		w.Logger.Warn("a worktree was kept", "folder", t.Top, "error", err)
		return api.KeptFailed, ""
	}
	return kept, tip
}

// removeSaved removes the folder of a worktree in which nothing is unsaved.
func (w *Worktrees) removeSaved(ctx context.Context, t state.Worktree) (kept api.WorktreeKept, tip string, err error) {
	repo := w.find(t.Project)
	if repo == nil {
		if _, err := os.Lstat(t.Top); errors.Is(err, fs.ErrNotExist) {
			return "", "", nil
		}
		return "", "", fmt.Errorf("%s is not in a repository", t.Project)
	}
	unsaved, err := repo.Unsaved(ctx, w.Paths.GitViews(), t.Top)
	if err != nil || unsaved != gitrepo.Saved {
		return api.WorktreeKept(unsaved), "", err
	}
	if tip, err = repo.Tip(ctx, t.Branch); err != nil {
		return "", "", err
	}
	if err := w.List.Change(t.ID, func(t *state.Worktree) { t.Doing, t.Tip = state.WorktreeRemoving, tip }); err != nil {
		return "", "", err
	}
	w.Leaving(folderOf(t))
	return "", tip, w.removeFolder(ctx, repo, t)
}

// removeFolder removes the folder of a worktree in which everything is saved, and its branch if
// that is not needed.
func (w *Worktrees) removeFolder(ctx context.Context, repo *gitrepo.Repo, t state.Worktree) error {
	err := repo.RemoveWorktree(t.Top)
	if _, statErr := os.Lstat(t.Top); err != nil && !errors.Is(statErr, fs.ErrNotExist) {
		return err
	}
	_, branchErr := repo.DeleteMerged(ctx, t.Branch)
	if err := errors.Join(err, branchErr); err != nil { // it is only something too many
		w.Logger.Warn("a part of a removed worktree was left", "folder", t.Top, "branch", t.Branch, "error", err)
	}
	_ = os.Remove(filepath.Dir(t.Top)) // it fails while there are others
	return nil
}

// Deleting records that a session is about to be deleted. Forget follows, or undo if it was not.
func (w *Worktrees) Deleting(sessionID string) (undo func()) {
	t, ok := w.List.Of(sessionID)
	before := t.Sessions[sessionID]
	if !ok || before == state.UseSubagent || before == state.UseDeleting { // or another request deletes it
		return func() {}
	}
	w.setUse(t, sessionID, before, state.UseDeleting)
	return func() { w.setUse(t, sessionID, state.UseDeleting, before) }
}

// setUse changes how a session uses a worktree, unless that has changed in the meantime: another
// request can have deleted the session, and with it the worktree.
func (w *Worktrees) setUse(t state.Worktree, sessionID string, from, to state.WorktreeUse) {
	if err := w.List.Change(t.ID, func(t *state.Worktree) {
		if t.Sessions[sessionID] == from {
			t.Sessions[sessionID] = to
		}
	}); err != nil {
		w.Logger.Error("recording how a session uses a worktree", "folder", t.Top, "error", err)
	}
}
