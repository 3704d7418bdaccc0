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

// Copy copies or moves a session to another of the host's session providers.
func (m *Manager) Copy(ctx context.Context, id, to string, move bool) error {
	several, ok := m.provider.(mover)
	if !ok {
		return api.Errorf(api.KindBadRequest, "this host has one session provider only")
	}
	s, err := m.Open(id)
	if err != nil {
		return err
	}
	err = s.aside(ctx, func() error { return several.Copy(ctx, id, to, move) })
	m.touch(id, s.project.ID) // it may be somewhere else now
	return err
}

// Delete takes a session away for good, and before it those that its agent had made.
func (m *Manager) Delete(ctx context.Context, id string) error {
	s, err := m.Open(id)
	if err != nil {
		return err
	}
	err = s.aside(ctx, func() error {
		// No session waits for the one that it belongs to, so this one may wait for them.
		for _, child := range m.children(id) {
			if err := m.Delete(ctx, child); err != nil {
				return fmt.Errorf("a session that belongs to it could not be deleted: %w", err)
			}
		}
		err := m.provider.Delete(ctx, id)
		if err != nil {
			return err
		}
		s.closing = true
		if err := s.process.Discard(); err != nil { // the session is gone all the same
			s.deps.Logger.Error("removing the process logs of a session", "session", id, "error", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	if k := m.known[id]; k != nil {
		delete(m.byKey, k.header.ClientKey)
	}
	delete(m.known, id)
	m.mu.Unlock()
	if m.deps.Index != nil {
		m.deps.Index.Remove(id)
	}
	m.deps.OnDelete(id)
	return nil
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
	m.mu.Lock()
	summary := m.known[id].summary
	m.mu.Unlock()
	m.deps.OnSummary(summary)
	return summary, nil
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
