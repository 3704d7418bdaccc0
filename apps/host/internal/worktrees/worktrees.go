// Package worktrees gives sessions git worktrees of their own, so that several can work on a
// project side by side.
//
// A worktree lies in a folder beside SCOREL_HOME, not in it: the home is closed to tools and
// commands. It begins at the commit that the project is at. Which session works where is kept
// in SCOREL_HOME/worktrees.json and nowhere else, so that no session file can claim a folder.
//
// A worktree is removed with the last session that works in it, when that is archived or
// deleted, but only if nothing is lost: every file is committed, and every commit is on a
// branch. Its own branch is deleted only if another one contains its commits.
package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// maxWorktrees bounds the worktrees of a host that have a folder.
const maxWorktrees = 200

// SetupScript is the program of a project that prepares a new worktree, below its folder.
const SetupScript = ".scorel/worktree-setup"

// Options are the parts that worktrees need. All but Step are required.
type Options struct {
	Logger  *slog.Logger
	Paths   state.Paths
	List    *state.Worktrees
	Root    string // absolute path of the folder that holds the worktrees
	Trusted func(folder string) bool
	// Step is called when a change has reached a durable step; tests stop there. nil does nothing.
	Step func(name string)
	// Leaving is called before a folder is removed in which sessions worked.
	Leaving func(folder string)
}

// Worktrees makes and removes the worktrees of a host. It implements sessions.Worktrees.
type Worktrees struct {
	Options
	using sync.Mutex // held while it is decided whether a worktree is in use
}

// New returns the worktrees of a host.
func New(o Options) *Worktrees { return &Worktrees{Options: o} }

// Of returns the worktree of a session, or nil.
func (w *Worktrees) Of(sessionID string) *api.Worktree {
	t, ok := w.List.Of(sessionID)
	if !ok {
		return nil
	}
	shown := &api.Worktree{Folder: folderOf(t), Branch: t.Branch, Base: t.Base, Removed: t.State == state.WorktreeRemoved}
	if t.Sessions[sessionID] == state.UseArchived {
		shown.Kept = api.WorktreeKept(t.Kept)
	}
	return shown
}

func folderOf(t state.Worktree) string { return filepath.Join(t.Top, t.Prefix) }

// Origin returns the project's folder for the folder of a worktree, or the folder itself.
func (w *Worktrees) Origin(folder string) string {
	for _, t := range w.List.List() {
		if folderOf(t) == folder {
			return t.Project
		}
	}
	return folder
}

// GitDir returns the git directory that commands in a worktree need to write to, so that they
// can commit; "" for other folders. It is that of the project, and only if commands there can
// write to it too.
func (w *Worktrees) GitDir(folder string) string {
	origin := w.Origin(folder)
	if origin == folder {
		return ""
	}
	if repo := w.find(origin); repo != nil {
		return repo.Dir()
	}
	return ""
}

// Guarded returns the folders that commands in a worktree must not change although they may lie
// below a folder that commands can write to: the main checkout, and all other worktrees.
func (w *Worktrees) Guarded(folder string) []string {
	origin := w.Origin(folder)
	if origin == folder {
		return nil
	}
	guarded := []string{w.Root, origin}
	if repo := w.find(origin); repo != nil {
		guarded[1] = repo.Top()
	}
	return guarded
}

// find returns the repository of a folder, unless it is in scorel's own folder.
func (w *Worktrees) find(folder string) *gitrepo.Repo {
	home := w.Paths.Home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return gitrepo.Find(folder, func(path string) bool {
		rel, err := filepath.Rel(home, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Create makes a worktree of a project for a session that is about to be created. The error is
// an *api.Error.
func (w *Worktrees) Create(ctx context.Context, project api.Project, sessionID string) error {
	repo := w.find(project.Path)
	if repo == nil {
		return api.Errorf(api.KindInvalidPath, "the folder %s is not in a git repository, so it has no worktrees: run git init there, or start the session without one", project.Path)
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return explain(err)
	}
	if head == "" {
		return api.Errorf(api.KindInvalidPath, "the repository of %s has no commit yet, and a worktree begins with one: commit first, or start the session without a worktree", project.Path)
	}
	if w.present() >= maxWorktrees {
		return api.Errorf(api.KindTooLarge, "this host has %d worktrees, which is the limit: archive or delete sessions that have one", maxWorktrees)
	}
	t := state.Worktree{
		ID: sessionID, ProjectID: project.ID, Project: project.Path, Prefix: repo.Prefix(), Base: head, State: state.WorktreeMade,
		Sessions: map[string]state.WorktreeUse{sessionID: state.UseActive},
	}
	name := shortName(sessionID)
	t.Top, t.Branch = filepath.Join(w.Root, folderName(project), name), "scorel/"+name
	if err := w.add(ctx, repo, t, head); err != nil {
		return err
	}
	if info, err := os.Stat(folderOf(t)); err != nil || !info.IsDir() {
		w.remove(ctx, repo, t)
		return api.Errorf(api.KindInvalidPath, "the folder %s has no committed file, so it is not in a worktree: commit first, or start the session without a worktree", project.Path)
	}
	return nil
}

// Created records that the session is on disk for which Create or Share were called.
func (w *Worktrees) Created(sessionID string) {
	t, ok := w.List.Of(sessionID)
	if !ok {
		return
	}
	if err := w.List.Change(t.ID, func(t *state.Worktree) {
		if t.ID == sessionID {
			t.Doing = ""
		}
		if t.Sessions[sessionID] == state.UseForking {
			t.Sessions[sessionID] = state.UseActive
		}
	}); err != nil { // Recover does it when the host starts again
		w.Logger.Error("recording the session of a worktree", "folder", t.Top, "error", err)
	}
}

// add makes the folder of a worktree, which is recorded first: Recover finishes or takes back
// what a killed host left. commit is where its branch begins, or "" if that exists.
func (w *Worktrees) add(ctx context.Context, repo *gitrepo.Repo, t state.Worktree, commit string) error {
	if err := os.MkdirAll(filepath.Dir(t.Top), 0o700); err != nil {
		return api.Errorf(api.KindUnavailable, "the folder for worktrees cannot be created (%v): set folder in the table [worktrees] of config.toml to another one", err)
	}
	if _, err := os.Lstat(t.Top); !errors.Is(err, fs.ErrNotExist) {
		return api.Errorf(api.KindConflict, "%s exists already: move it away, then try again", t.Top)
	}
	before, known := w.List.Of(t.ID)
	t.Doing = state.WorktreeAdding
	if err := w.note(t.ID, func(to *state.Worktree) { *to = t }); err != nil {
		return err
	}
	err := repo.AddWorktree(ctx, w.Paths.GitViews(), gitrepo.Worktree{Folder: t.Top, Branch: t.Branch, Commit: commit, Files: t.Files})
	if err == nil {
		return nil
	}
	if !known {
		before.Sessions = nil // forgets it
	}
	if err := w.List.Change(t.ID, func(to *state.Worktree) { *to = before }); err != nil {
		w.Logger.Error("recording that a worktree was not made", "folder", t.Top, "error", err)
	}
	return explain(err)
}

// remove takes back what add did. It is only called before the worktree was used.
func (w *Worktrees) remove(ctx context.Context, repo *gitrepo.Repo, t state.Worktree) {
	ctx = context.WithoutCancel(ctx)
	_, err := repo.DeleteMerged(ctx, t.Branch)
	err = errors.Join(err, repo.RemoveWorktree(t.Top), w.List.Change(t.ID, func(to *state.Worktree) { to.Sessions = nil }))
	if err != nil {
		w.Logger.Warn("removing a worktree that is not used", "folder", t.Top, "error", err)
	}
}

// present is how many worktrees have a folder.
func (w *Worktrees) present() (n int) {
	for _, t := range w.List.List() {
		if t.State != state.WorktreeRemoved {
			n++
		}
	}
	return n
}

// shortName is the random end of a session's id.
func shortName(sessionID string) string {
	name := strings.ReplaceAll(sessionID, "-", "")
	return name[max(0, len(name)-8):]
}

// folderName is a name for a project that people recognize and that no other project has.
func folderName(project api.Project) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(project.Path))
	id := strings.TrimPrefix(project.ID, "prj_")
	return strings.TrimLeft(name[:min(len(name), 40)], ".") + "-" + id[:min(len(id), 8)]
}

// Share has another session work where one works: a fork, or with subagent the session of a
// subagent. It does nothing for a session in its project's folder.
func (w *Worktrees) Share(from, to string, subagent bool) error {
	t, ok := w.List.Of(from)
	if !ok {
		return nil
	}
	use := state.UseForking
	if subagent {
		use = state.UseSubagent
	}
	if err := w.List.Change(t.ID, func(t *state.Worktree) {
		if _, ok := t.Sessions[from]; ok { // it can have been deleted in the meantime
			t.Sessions[to] = use
		}
	}); err != nil {
		return fmt.Errorf("worktrees: %w", err)
	}
	return nil
}

// explain turns an error of git into one for people.
func explain(err error) error {
	var refused *api.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.Is(err, gitrepo.ErrNoGit):
		return api.Errorf(api.KindUnavailable, "git is not installed on this machine: install it, or start the session without a worktree")
	case errors.Is(err, gitrepo.ErrTooSlow):
		return api.Errorf(api.KindUnavailable, "git did not finish in time: the repository may be too large, or the disk busy. Try again, or start the session without a worktree")
	case errors.Is(err, gitrepo.ErrElsewhere):
		return api.Errorf(api.KindNotAllowed, "the repository's own files are outside its folder, so scorel makes no worktree of it: start the session without one")
	case gitrepo.Message(err) != "":
		return api.Errorf(api.KindUnavailable, "git could not make the worktree: %.300q", gitrepo.Message(err))
	}
	return api.Errorf(api.KindUnavailable, "the worktree could not be made: %v", err)
}
