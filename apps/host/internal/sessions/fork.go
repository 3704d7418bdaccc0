package sessions

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// forks creates sessions from parts of others.
type forks struct {
	*pool
	finder *finder

	forking sync.Mutex // held while a fork is created, so that a concurrent retry finds it
}

// Fork creates a session from the path to an entry. The same clientKey returns the same
// session.
func (f *forks) Fork(ctx context.Context, r api.ForkSessionRequest) (response api.ForkSessionResponse, err error) {
	if err := checkKey(r.ClientKey); err != nil {
		return response, err
	}
	source, err := f.Open(r.SessionID)
	if err != nil {
		return response, err
	}
	f.forking.Lock()
	defer f.forking.Unlock()
	f.mu.Lock()
	id, made := f.byKey[r.ClientKey]
	elsewhere := made && f.known[id].project.ID != source.project.ID
	f.mu.Unlock()
	if elsewhere {
		return response, usedKey()
	}
	header, err := f.forkHeader(ctx, source, r)
	if err != nil {
		return response, err
	}
	ended := func(bool) {}
	if !made {
		if ended, err = f.deps.sharing(r.SessionID, false)(ctx, header.ID); err != nil {
			return response, err
		}
	}
	var forkErr error
	var place read.Place
	doErr := source.do(ctx, func() { place, forkErr = source.history.fork(f.provider, r, header, made) })
	ended(doErr == nil && forkErr == nil)
	if doErr != nil || forkErr != nil {
		return response, clientError(firstError(doErr, forkErr))
	}
	response.Text, response.Content = place.Text, place.Content
	if !made {
		id = header.ID
		if err := f.finder.take(ctx, store.Info{Header: header, ProjectID: source.project.ID}); err != nil {
			// A retry finds the fork by its key. Opening it reads what is missing here.
			f.finder.addClosed(index.Session{Header: header, ProjectID: source.project.ID})
			return response, clientError(err)
		}
	}
	fork, err := f.Open(id)
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

func (f *forks) forkHeader(ctx context.Context, source *Session, r api.ForkSessionRequest) (session.Header, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return session.Header{}, fmt.Errorf("sessions: creating an id: %w", err)
	}
	parent := source.id
	if locator, ok := f.provider.(store.Locator); ok {
		if parent, err = locator.Locate(ctx, source.id); err != nil {
			return session.Header{}, clientError(err)
		}
	}
	return session.Header{
		Type: session.TypeSession, Version: session.Version, ID: id.String(), Timestamp: session.FormatTime(time.Now()),
		Cwd: f.placeOf(source).Path, ParentSession: parent, ProjectID: source.project.ID, ClientKey: r.ClientKey,
	}, nil
}

// fork stores the new session unless it exists already, and returns the chosen position.
func (h *history) fork(provider store.Provider, r api.ForkSessionRequest, header session.Header, made bool) (read.Place, error) {
	tree := h.log.Tree()
	p, err := h.forkPlace(tree, r.EntryID)
	if err != nil || made {
		return p, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), appendTimeout)
	defer cancel()
	header.Timestamp = session.FormatTime(behind(tree, p.Leaf, time.Now()))
	branched, err := h.log.Branched(ctx, provider, h.project.ID, header, p.Leaf)
	if err != nil {
		return p, err
	}
	if err := branched.Close(); err != nil { // the new session is stored all the same
		h.logger.Error("closing a fork", "session", header.ID, "error", err)
	}
	return p, nil
}

// behind returns the time of a fork at leaf: now, or just after the newest entry if that is
// later. Entries older than their session were inherited.
func behind(tree *session.Tree, leaf string, now time.Time) time.Time {
	path, _ := tree.PathToHole(leaf) // the fork is refused if the path has a hole
	for _, entry := range path {
		last := time.UnixMilli(index.Millis(entry.Timestamp))
		// A clock that was further ahead is not followed.
		if !last.Before(now.Truncate(time.Millisecond)) && last.Sub(now) < time.Second {
			now = last.Add(time.Millisecond)
		}
	}
	return now
}

func (h *history) forkPlace(tree *session.Tree, entryID string) (read.Place, error) {
	if entryID != "" {
		return read.PlaceFor(tree, entryID)
	}
	if err := tree.CheckPath(tree.Leaf()); err != nil {
		return read.Place{}, api.Errorf(api.KindDamaged, "the path to the last entry is broken (%v): fork at an earlier entry", err)
	}
	if h.turns.running != nil {
		return read.Place{}, api.Errorf(api.KindConflict, "a turn is running: wait until it ends, or fork at an earlier entry")
	}
	if !read.TurnEnded(tree, tree.Leaf()) { // as when the disk was full
		return read.Place{}, api.Errorf(api.KindConflict, "the end of the last turn was not saved: fork at an earlier entry, or send another prompt first")
	}
	return read.Place{Leaf: tree.Leaf()}, nil
}
