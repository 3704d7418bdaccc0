package host

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/gitguard"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/worktrees"
)

// loadWorktrees loads the worktrees of sessions. They share the trust of their project.
func (w *wiring) loadWorktrees() error {
	list, err := state.LoadWorktrees(w.paths.Worktrees())
	if err != nil {
		return err
	}
	root, err := worktreeRoot(w.paths, w.config.Worktrees)
	if err != nil {
		return state.Misconfigured(err)
	}
	w.worktrees = worktrees.New(worktrees.Options{
		Logger: w.log, Paths: w.paths, List: list, Root: root, Trusted: w.trust.Has, Step: w.cfg.MoveStep, Leaving: func(folder string) { w.mcp.Leave(folder) },
	})
	w.trust.Origin = w.worktrees.Origin
	return nil
}

// recoverWorktrees finishes what a killed host has begun. While a database is unavailable, which
// sessions there are is not known; then the next start does it.
func (w *wiring) recoverWorktrees() {
	if len(w.stores.Outages()) > 0 {
		return
	}
	w.worktrees.Recover(w.stopCtx, w.sessions.Archived)
	w.sessions.WorktreesRecovered()
}

// worktreeRoot returns the folder for worktrees: the configured one, or one beside the home.
func worktreeRoot(paths state.Paths, given string) (string, error) {
	home := machine.ResolveLinks(paths.Home)
	root := given
	if below, ok := strings.CutPrefix(root, "~/"); ok {
		root = filepath.Join(machine.UserHome(), below)
	}
	if root == "" {
		root = home + "-worktrees"
	}
	root = machine.ResolveLinks(root)
	if sandbox.Within(home, root) {
		return "", fmt.Errorf("%s: worktrees.folder: %s is in scorel's own folder, which commands cannot see: choose another folder", paths.Config(), given)
	}
	return root, nil
}

// confine returns the command line that runs argv in a sandbox, as it applies to a folder.
func (w *wiring) confine(s *sandbox.Sandbox, argv []string, dir string, open ...string) []string {
	return s.Protect(w.worktrees.Guarded(dir)...).Wrap(argv, dir, append(open, w.gitDir(dir)...)...)
}

// gitDir returns the git directory that commands in a worktree write to besides.
func (w *wiring) gitDir(folder string) []string {
	if dir := w.worktrees.GitDir(folder); dir != "" {
		return []string{dir}
	}
	return nil
}

// guardGit records what git would run in a folder, and for a worktree also in its project: a
// command there can write to the project's repository.
func (w *wiring) guardGit(guard *gitguard.Guard) func(dir string) (func() []string, error) {
	return func(dir string) (func() []string, error) {
		end, err := guard.Begin(dir)
		if err != nil || w.worktrees.GitDir(dir) == "" {
			return end, err
		}
		endProject, err := guard.Begin(w.worktrees.Origin(dir))
		if err != nil {
			end()
			return nil, err
		}
		return func() []string { return append(end(), endProject()...) }, nil
	}
}
