package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// mover is a provider that is several.
type mover interface {
	Copy(ctx context.Context, id, to string, move bool) error
}

// Copy copies or moves a session to another of the host's session providers, and before
// it those that its agent had made. They keep their ids, by which they belong to it there
// too. What a crash cut off is finished by the next call.
func (m *Manager) Copy(ctx context.Context, id, to string, move bool) error {
	several, ok := m.provider.(mover)
	if !ok {
		return api.Errorf(api.KindBadRequest, "this host has one session provider only")
	}
	carried := 0
	return m.family(ctx, id, func(s *Session) error {
		err := several.Copy(ctx, s.id, to, move)
		m.touch(s.id, s.project.ID) // it may be somewhere else now
		switch {
		case err == nil:
			carried++
		case errors.Is(err, places.ErrThere) && (s.id != id || carried > 0):
			return nil // only some of them were missing
		}
		return err
	})
}

// Delete takes a session away for good, and before it those that its agent had made.
func (m *Manager) Delete(ctx context.Context, id string) error {
	return m.family(ctx, id, func(s *Session) error {
		if err := m.provider.Delete(ctx, s.id); err != nil {
			return err
		}
		s.closing = true
		if err := s.process.Discard(); err != nil { // the session is gone all the same
			s.deps.Logger.Error("removing the process logs of a session", "session", s.id, "error", err)
		}
		m.forget(s.id)
		return nil
	})
}

// family runs fn for the sessions that belong to one, over others too, and then for
// that one: each in its own goroutine, while its log and those of all that it belongs to
// are closed. The first that works, or fails, ends it.
func (m *Manager) family(ctx context.Context, id string, fn func(*Session) error) error {
	s, err := m.Open(id)
	if err != nil {
		return err
	}
	return s.aside(ctx, func() error {
		// No session waits for the one that it belongs to, so this one may wait for them.
		for _, child := range m.children(id) {
			if err := m.family(ctx, child, fn); err != nil {
				return ofChild(child, err)
			}
		}
		return fn(s)
	})
}

// ofChild says of an error which of the sessions that belong to one it is about.
func ofChild(id string, err error) error {
	var told *api.Error
	if errors.As(err, &told) {
		return api.Errorf(told.Kind, "session %s, which belongs to it: %s", clip(id), told.Message)
	}
	return fmt.Errorf("session %s, which belongs to it: %w", clip(id), err)
}

// Import stores a session of the bytes of a file and lists it. It begins nothing by
// itself and does not ask less than others: see disarmed.
func (m *Manager) Import(ctx context.Context, projectID, id string, data []byte) (api.SessionSummary, error) {
	data, err := disarmed(ctx, data)
	if err == nil {
		err = m.provider.Import(ctx, projectID, data)
	}
	if err != nil {
		return api.SessionSummary{}, refuse(err)
	}
	if err := m.take(ctx, store.Info{Header: session.Header{ID: id}, ProjectID: projectID}); err != nil {
		return api.SessionSummary{}, refuse(err)
	}
	return m.tellNew(id), nil
}

// aside runs fn in the session's goroutine while its log is closed, and opens the
// log again after it. A session that works is refused.
func (s *Session) aside(ctx context.Context, fn func() error) error {
	var err error
	askErr := s.ask(ctx, func() {
		if s.turn != nil || s.work != nil || len(s.live.Queue) > 0 {
			err = api.Errorf(api.KindConflict, "the session works: wait for the end of its turn, or cancel it, then try again")
			return
		}
		if s.log != nil {
			err = s.log.Close()
		}
		err = errors.Join(err, fn())
		s.lost = s.log != nil && !s.closing // reread opens it where it is now
	})
	return refuse(errors.Join(askErr, err))
}

// refuseCarry tells the errors of moving whole sessions; nil for others.
func refuseCarry(err error) *api.Error {
	switch {
	case errors.Is(err, places.ErrUnknown), errors.Is(err, store.ErrBadName), errors.Is(err, store.ErrBadLine):
		return api.Errorf(api.KindBadRequest, "%v", err)
	case errors.Is(err, store.ErrExists):
		return api.Errorf(api.KindConflict, "%v: delete it first, to have what the file holds in its place", store.ErrExists)
	case errors.Is(err, places.ErrThere), errors.Is(err, places.ErrDiffers):
		return api.Errorf(api.KindConflict, "%v", err)
	}
	return nil
}
