package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Worktrees are the git worktrees in which sessions work. Errors are *api.Error.
type Worktrees interface {
	// Of returns the worktree of a session, or nil. It does not block.
	Of(sessionID string) *api.Worktree
	// Create makes a worktree of a project for a session that is about to be created.
	Create(ctx context.Context, project api.Project, sessionID string) error
	// Created records that the session is on disk for which Create or Share were called.
	Created(sessionID string)
	// Share has a fork, or the session of a subagent, work where a session works.
	Share(from, to string, subagent bool) error
	// Enter prepares the worktree of a session for a turn, and makes it again if it was removed.
	Enter(ctx context.Context, sessionID string) (Entered, error)
	// Settled records that the setup that Enter returned is done, however it ended.
	Settled(sessionID string) error
	// Leave records that a session was archived, and removes its worktree if nothing is lost.
	Leave(ctx context.Context, sessionID string, busy bool)
	// Deleting records that a session is about to be deleted. Forget follows, or undo if it was not.
	Deleting(sessionID string) (undo func())
	// Forget is Leave for a session that was deleted. It returns the worktree if that was kept.
	Forget(ctx context.Context, sessionID string) *api.Worktree
}

// Entered says what is to be done before a turn in a worktree.
type Entered struct {
	Again     bool   // it was removed, and was made again from its branch
	Setup     string // the program that prepares it, relative to it; "" for none
	Untrusted bool   // Setup does not run, because the project is not trusted
}

// projectIn returns the project of a session with the folder that the session works in.
func (d Deps) projectIn(sessionID string, project api.Project) api.Project {
	if tree := d.worktree(sessionID); tree != nil {
		project.Path = tree.Folder
	}
	return project
}

func (d Deps) worktree(sessionID string) *api.Worktree {
	if d.Worktrees == nil {
		return nil
	}
	return d.Worktrees.Of(sessionID)
}

// placeOf returns the project of a session with the project's own folder.
func (g *registry) placeOf(s *Session) api.Project {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k := g.known[s.id]; k != nil {
		return k.project
	}
	return s.project // it was just deleted
}

// Worktree returns the worktree that the session works in, or nil.
func (c *core) Worktree() *api.Worktree { return c.deps.worktree(c.id) }

// Folder returns the project of the session with the folder that the session works in. The
// error, an *api.Error, says what to do if that is a worktree which is not there.
func (s *Session) Folder() (api.Project, error) {
	project := s.Project()
	if s.Worktree() == nil {
		return project, nil
	}
	if info, err := os.Stat(project.Path); err != nil || !info.IsDir() {
		return project, api.Errorf(api.KindInvalidPath, "the worktree of this session, %s, is not there: if it was removed with the archived session, take the session out of the archive", project.Path)
	}
	return project, nil
}

// placing chooses where a session works that is about to be created. ended is called with whether
// it was.
type placing func(ctx context.Context, sessionID string) (ended func(created bool), err error)

// inProject has a session work in the folder of its project.
func inProject(context.Context, string) (func(bool), error) { return func(bool) {}, nil }

// inWorktree has a session work in a new worktree.
func (d Deps) inWorktree(project api.Project) placing {
	return func(ctx context.Context, sessionID string) (func(bool), error) {
		if d.Worktrees == nil {
			return nil, api.Errorf(api.KindBadRequest, "this host has no worktrees")
		}
		return d.placed(ctx, sessionID), d.Worktrees.Create(ctx, project, sessionID)
	}
}

// placed records whether a session was created in a worktree.
func (d Deps) placed(ctx context.Context, sessionID string) func(created bool) {
	return func(created bool) {
		if created {
			d.Worktrees.Created(sessionID)
		} else {
			d.Worktrees.Forget(context.WithoutCancel(ctx), sessionID)
		}
	}
}

// sharing has a session work where another one works.
func (d Deps) sharing(from string, subagent bool) placing {
	return func(ctx context.Context, sessionID string) (func(bool), error) {
		if d.Worktrees == nil {
			return func(bool) {}, nil
		}
		return d.placed(ctx, sessionID), d.Worktrees.Share(from, sessionID, subagent)
	}
}

// setupCall, followed by the id of a turn, is the id of the call that sets up its worktree.
const setupCall = "worktree-setup-"

// setupSeconds bounds how long the setup of a worktree may take.
const setupSeconds = 600

// enterWorktree prepares the worktree of the session before a turn. Its setup runs as a
// command of the agent would: in the sandbox, after the same approval. Whatever becomes of it,
// the turn follows.
func (r *runner) enterWorktree(ctx context.Context, id string, turn *agent.Turn) error {
	if r.deps.Worktrees == nil || turn.Resume {
		return nil
	}
	entered, err := r.deps.Worktrees.Enter(ctx, r.id)
	if err != nil {
		return err
	}
	var texts []string
	if entered.Again {
		texts = append(texts, "The worktree of this session had been removed and was made again from its branch. Files that were never committed are not in it.")
	}
	if entered.Setup != "" {
		text, err := r.setUp(ctx, setupCall+id, turn, entered)
		if err != nil {
			return err
		}
		if err := r.deps.Worktrees.Settled(r.id); err != nil {
			return err
		}
		texts = append(texts, text)
	}
	if entered.Again { // it is not removed any more
		if err := r.do(ctx, r.updateSummary); err != nil {
			return err
		}
	}
	if len(texts) == 0 {
		return nil
	}
	message, err := turn.Tell(context.WithoutCancel(ctx), session.Note{Kind: session.NoteWorktree, Text: strings.Join(texts, "\n\n")})
	if err == nil {
		turn.Messages = append(turn.Messages, message)
	}
	return err
}

// setUp runs the setup of a worktree and describes what came of it. The error ends the turn:
// it was canceled, or the host ends.
func (r *runner) setUp(ctx context.Context, callID string, turn *agent.Turn, entered Entered) (string, error) {
	if entered.Untrusted {
		return fmt.Sprintf("The setup script %s did not run, because the project is not trusted.", entered.Setup), nil
	}
	bash := r.setup.judge.tool("bash")
	arguments, err := json.Marshal(map[string]any{"command": "./" + entered.Setup, "timeout_seconds": setupSeconds})
	if bash == nil || err != nil {
		return fmt.Sprintf("The setup script %s did not run, because this host has no tool bash.", entered.Setup), nil
	}
	call := agent.Call{ID: callID, Name: "bash", Arguments: arguments, Cwd: turn.Cwd}
	what := bash.Describe(call)
	what.Title = "Set up the worktree: " + what.Title
	decision, err := turn.Gate.Ask(ctx, call, what)
	var refused *agent.Refusal
	switch {
	case errors.Is(err, agent.ErrSuspended), ctx.Err() != nil:
		return "", cmp.Or(err, context.Cause(ctx))
	case errors.As(err, &refused):
		return fmt.Sprintf("The setup script %s did not run. %s", entered.Setup, refused.Text), nil
	case err != nil || decision != api.DecisionAllow:
		return fmt.Sprintf("The setup script %s did not run, because the user denied it.", entered.Setup), nil
	}
	result := bash.Run(ctx, call, func(string) {})
	if ctx.Err() != nil { // it runs again before the next turn
		return "", context.Cause(ctx)
	}
	ended := "ran"
	if result.IsError {
		ended = "failed"
	}
	return fmt.Sprintf("The setup script %s of the project %s in the new worktree. Its output:\n%s", entered.Setup, ended, result.Content.Plain()), nil
}

// Archived looks a session up, whether or not its provider is available.
func (g *registry) Archived(sessionID string) (archived, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.known[sessionID]
	return k != nil && k.summary.Archived, k != nil
}

// WorktreesRecovered puts what became of the worktrees into the list of sessions. It is called
// before any request.
func (m *Manager) WorktreesRecovered() {
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	for id, k := range m.known {
		k.summary.Worktree = m.deps.worktree(id)
	}
}
