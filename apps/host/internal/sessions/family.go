package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/packages/protocol/api"
)

// mover is a provider that is several.
type mover interface {
	Copy(ctx context.Context, id, to string, move bool) error
}

// families deletes sessions, and copies them to other providers, together with the sessions of
// their subagents.
type families struct {
	*pool
	announcer *announcer
}

// Copy copies or moves a session to another of the host's session providers, after those of
// its subagents. They keep their ids, by which they belong to it there too. The next call
// completes what a crash cut off.
func (f *families) Copy(ctx context.Context, id, to string, move bool) error {
	several, ok := f.provider.(mover)
	if !ok {
		return api.Errorf(api.KindBadRequest, "this host has only one session provider")
	}
	moved := 0
	return f.subagentsFirst(ctx, id, func(s *Session) error {
		err := several.Copy(ctx, s.id, to, move)
		f.deps.markChanged(s.id, s.project.ID) // it may be somewhere else now
		switch {
		case err == nil:
			moved++
		case errors.Is(err, places.ErrThere) && (s.id != id || moved > 0):
			return nil // only some of them were missing
		}
		return err
	})
}

// Delete deletes a session, after those of its subagents. It returns the worktree of the session
// if that was kept.
func (f *families) Delete(ctx context.Context, id string) (kept *api.Worktree, err error) {
	if f.deps.Worktrees == nil {
		return nil, f.delete(ctx, id)
	}
	undo := f.deps.Worktrees.Deleting(id)
	if err := f.delete(ctx, id); err != nil {
		undo()
		return nil, err
	}
	return f.deps.Worktrees.Forget(context.WithoutCancel(ctx), id), nil
}

func (f *families) delete(ctx context.Context, id string) error {
	return f.subagentsFirst(ctx, id, func(s *Session) error {
		if err := f.provider.Delete(ctx, s.id); err != nil {
			return err
		}
		s.closing = true
		if err := s.operations.sink.Discard(); err != nil { // the session is gone all the same
			s.logger.Error("removing the process logs of a session", "session", s.id, "error", err)
		}
		if f.deps.Budgets != nil {
			if err := f.deps.Budgets.RemoveSession(s.id); err != nil { // as above
				s.logger.Error("removing the budget of a session", "session", s.id, "error", err)
			}
		}
		f.announcer.unregister(s.id)
		if f.deps.Worktrees != nil && s.id != id { // a subagent's session only shares it
			f.deps.Worktrees.Forget(ctx, s.id)
		}
		return nil
	})
}

// subagentsFirst runs fn for the sessions of a session's subagents, and of theirs, and then for
// the session itself: each in its own goroutine, while its log and those of all that it belongs
// to are closed. It stops at the first session that is busy or fails.
func (f *families) subagentsFirst(ctx context.Context, id string, fn func(*Session) error) error {
	s, err := f.Open(id)
	if err != nil {
		return err
	}
	return s.withLogClosed(ctx, func() error {
		// No session waits for the one that it belongs to, so this one may wait for them.
		for _, child := range f.children(id) {
			if err := f.subagentsFirst(ctx, child, fn); err != nil {
				return ofSubagent(child, err)
			}
		}
		return fn(s)
	})
}

// ofSubagent adds to an error which subagent's session it is about.
func ofSubagent(id string, err error) error {
	var refusal *api.Error
	if errors.As(err, &refusal) {
		return api.Errorf(refusal.Kind, "its subagent's session %s: %s", clip(id), refusal.Message)
	}
	return fmt.Errorf("its subagent's session %s: %w", clip(id), err)
}

// withLogClosed runs fn in the session's goroutine while its log is closed, and opens the log
// again after it. It refuses a session that is busy.
func (s *Session) withLogClosed(ctx context.Context, fn func() error) error {
	var err error
	askErr := s.ask(ctx, func() {
		if s.scheduler.busy() || len(s.live.Queue) > 0 {
			err = api.Errorf(api.KindConflict, "the session is busy: wait until its turn ends, or cancel it, then try again")
			return
		}
		if s.log != nil {
			err = s.log.Close()
		}
		err = errors.Join(err, fn())
		s.lost = s.log != nil && !s.closing // reload opens it where it is now
	})
	return clientError(errors.Join(askErr, err))
}
