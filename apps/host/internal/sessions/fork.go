package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Fork makes a new session of the path to an entry. The same clientKey gives the
// same session.
func (m *Manager) Fork(ctx context.Context, r api.ForkSessionRequest) (response api.ForkSessionResponse, err error) {
	if err := checkKey(r.ClientKey); err != nil {
		return response, err
	}
	source, err := m.Open(r.SessionID)
	if err != nil {
		return response, err
	}
	m.forking.Lock() // so that a retry beside the first finds what that made
	defer m.forking.Unlock()
	m.mu.Lock()
	id, made := m.byKey[r.ClientKey]
	m.mu.Unlock()
	header, err := m.forkHeader(ctx, source, r)
	if err != nil {
		return response, err
	}
	var forkErr error
	doErr := source.do(ctx, func() { response.Text, forkErr = source.fork(r, header, made) })
	if doErr != nil || forkErr != nil {
		return response, refuse(firstError(doErr, forkErr))
	}
	if !made {
		id = header.ID
		if err := m.take(ctx, store.Info{Header: header, ProjectID: source.project.ID}); err != nil {
			return response, refuse(err)
		}
	}
	fork, err := m.Open(id)
	if err != nil {
		return response, err
	}
	response.Session, err = fork.Summary(ctx)
	return response, err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) forkHeader(ctx context.Context, source *Session, r api.ForkSessionRequest) (session.Header, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return session.Header{}, fmt.Errorf("sessions: making an id: %w", err)
	}
	parent := source.id
	if locator, ok := m.provider.(store.Locator); ok {
		if parent, err = locator.Locate(ctx, source.id); err != nil {
			return session.Header{}, refuse(err)
		}
	}
	return session.Header{
		Type: session.TypeSession, Version: session.Version, ID: id.String(), Timestamp: session.FormatTime(time.Now()),
		Cwd: source.project.Path, ParentSession: parent, ProjectID: source.project.ID, ClientKey: r.ClientKey,
	}, nil
}

// fork stores the new session, unless it was made before, and returns the text of
// the message that was chosen.
func (s *Session) fork(r api.ForkSessionRequest, header session.Header, made bool) (string, error) {
	tree := s.log.Tree()
	p, err := s.forkPlace(tree, r.EntryID)
	if err != nil || made {
		return p.Text, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	header.Timestamp = session.FormatTime(behind(tree, p.Leaf, time.Now()))
	branched, err := s.log.Branched(ctx, s.provider, s.project.ID, header, p.Leaf)
	if err != nil {
		return "", err
	}
	return p.Text, branched.Close()
}

// behind returns the time of a fork at leaf: now, and in any case after what was written
// last. Entries of a session that are older than itself came along with it.
func behind(tree *session.Tree, leaf string, now time.Time) time.Time {
	path, _ := tree.PathToHole(leaf) // a hole refuses the fork
	for _, entry := range path {
		last := time.UnixMilli(index.Millis(entry.Timestamp))
		// A clock that was ahead by more is no reason to be ahead as well.
		if !last.Before(now.Truncate(time.Millisecond)) && last.Sub(now) < time.Second {
			now = last.Add(time.Millisecond)
		}
	}
	return now
}

func (s *Session) forkPlace(tree *session.Tree, entryID string) (read.Place, error) {
	if entryID != "" {
		return read.PlaceFor(tree, entryID)
	}
	if err := tree.CheckPath(tree.Leaf()); err != nil {
		return read.Place{}, api.Errorf(api.KindDamaged, "the path to the last entry is broken (%v): fork at an entry above it", err)
	}
	if s.turn != nil || !read.TurnEnded(tree, tree.Leaf()) {
		return read.Place{}, api.Errorf(api.KindConflict, "a turn is running: wait for its end, or fork at an earlier entry")
	}
	return read.Place{Leaf: tree.Leaf()}, nil
}
