package moves

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// source sends the moves away from this host. It owns their sessions, which are paused, until a
// move is committed.
type source struct {
	records  *Records
	sessions *sessions.Manager
	keys     *ident.Private // of the device
	dial     dialing
	paths    state.Paths
	hub      *dispatch.Hub
	trees    Trees
	closed   func(project api.Project, sessionID string) (func(path string) bool, error)
	copies   copies
	step     steps
	logger   *slog.Logger
}

// prepareMove pauses a session and keeps a copy of all that is moved.
func (s *source) prepareMove(ctx context.Context, conn *dispatch.Conn, request api.PrepareMoveRequest) (response api.PrepareMoveResponse, err error) {
	if request.WithFiles && !conn.May(api.GrantFiles) {
		return response, errFilesNotAllowed()
	}
	opened, err := s.sessions.Open(request.SessionID)
	if err != nil {
		return response, err
	}
	summary, err := opened.Summary(ctx)
	switch {
	case err != nil:
		return response, err
	case summary.ParentSessionID != "":
		return response, api.Errorf(api.KindConflict, "this is the session of a subagent: move the session that it belongs to, %s", summary.ParentSessionID)
	case request.To == s.keys.ID():
		return response, api.Errorf(api.KindConflict, "the session is on this machine already: choose another one")
	}
	family, err := s.sessions.Handover.PauseFamily(ctx, request.SessionID, errPaused(request.To), request.Wait)
	if err != nil {
		return response, err
	}
	r := record{
		ID: newMoveID(), SessionID: request.SessionID, Family: family, ProjectID: summary.ProjectID, State: api.MovePrepared,
		From: s.keys.ID(), To: request.To, CreatedAt: time.Now().UnixMilli(),
	}
	one, err := s.stage(ctx, r, request.WithFiles)
	if err != nil {
		s.sessions.Handover.Resume(context.WithoutCancel(ctx), family)
		return response, errors.Join(err, removeFolder(s.records.folder(r.ID)))
	}
	s.step.reached("prepared")
	return api.PrepareMoveResponse{Move: s.records.shown(one), Offer: s.records.of(one).Offer}, nil
}

// errFilesNotAllowed is the error for a connection that may not read the files that a move sends to
// the device of its choice.
func errFilesNotAllowed() error {
	return api.Errorf(api.KindNotAllowed, "moving the files of a session also needs the grant %q, which this connection does not have: move the session without its files", api.GrantFiles)
}

func newMoveID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return "mov_" + hex.EncodeToString(b)
}

// stage writes what is moved to the folder of the move, and registers it.
func (s *source) stage(ctx context.Context, r record, withFiles bool) (*move, error) {
	keys, err := keyfile.LoadOrCreate(s.dial.keys, ident.KindClient)
	if err != nil {
		return nil, err
	}
	folder := s.records.folder(r.ID)
	if err := atomicfile.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("moves: creating a folder: %w", err)
	}
	staged := &stager{source: s, folder: folder, record: &r, withFiles: withFiles}
	r.Offer = api.MoveOffer{MoveID: r.ID, SessionID: r.SessionID, From: api.DeviceKeys(s.keys.Public()), Label: s.dial.label(), Client: api.DeviceKeys(keys.Public()), Items: []api.MoveItem{}}
	if err := staged.all(ctx); err != nil {
		return nil, err
	}
	return s.records.add(r)
}

// startMove has a prepared move sent.
func (s *source) startMove(_ context.Context, c *dispatch.Conn, request api.StartMoveRequest) (response api.MoveResponse, err error) {
	one, r, err := s.records.seen(c, request.MoveID)
	switch {
	case err != nil:
		return response, err
	case r.Incoming:
		return response, unknownMove(request.MoveID)
	}
	err = s.records.change(one, func(r *record) error {
		_, files := treeOf(*r)
		switch {
		case files && !c.May(api.GrantFiles):
			return errFilesNotAllowed()
		case r.State == api.MoveSending, r.State == api.MoveCommitted, r.State == api.MoveDone:
			return errAlready // by the same request, sent twice
		case r.State != api.MovePrepared:
			return api.Errorf(api.KindConflict, "the move was canceled: move the session again")
		case ident.NewID(ident.KindDevice, ident.Public(request.Keys)) != r.To:
			return api.Errorf(api.KindBadRequest, "the keys are not those of the device %s", r.To)
		}
		r.State, r.Start = api.MoveSending, &request
		return nil
	})
	if err != nil && !errors.Is(err, errAlready) {
		return response, err
	}
	s.step.reached("started")
	return api.MoveResponse{Move: s.records.shown(one)}, nil
}

// cancel ends a move that is not committed. The session continues here at once; the target is
// told afterwards.
func (s *source) cancel(ctx context.Context, one *move, why string) error {
	var before record
	err := s.records.change(one, func(r *record) error {
		before = *r
		switch r.State {
		case api.MoveCanceling, api.MoveCanceled:
			return errAlready
		case api.MoveCommitted, api.MoveDone:
			return api.Errorf(api.KindConflict, "the session belongs to the device %s already: move it back from there", r.To)
		case api.MoveSending:
			r.State = api.MoveCanceling
		default:
			r.State, r.EndedAt = api.MoveCanceled, time.Now().UnixMilli()
		}
		r.Error = why
		return nil
	})
	if errors.Is(err, errAlready) {
		return nil
	}
	if err != nil {
		return err
	}
	s.step.reached("canceled")
	select {
	case one.wake <- struct{}{}:
	default:
	}
	s.sessions.Handover.Resume(context.WithoutCancel(ctx), before.Family)
	if before.State == api.MovePrepared {
		return s.records.removeItems(one)
	}
	return nil
}

// commit stores that the session belongs to the target. It is the moment at which the session
// changes its owner.
func (s *source) commit(one *move) error {
	err := s.records.change(one, func(r *record) error {
		if r.State != api.MoveSending {
			return fmt.Errorf("moves: the move is %s", r.State) // it was canceled in the meantime
		}
		r.State = api.MoveCommitted
		return nil
	})
	if err == nil {
		s.step.reached("committed")
	}
	return err
}

// next does the next step of a move. An error is tried again.
func (s *source) next(ctx context.Context, one *move, r record) error {
	switch r.State {
	case api.MoveSending:
		return s.send(ctx, one, r)
	case api.MoveCommitted:
		return s.settle(ctx, one, r)
	case api.MoveCanceling:
		return s.tellCanceled(ctx, one, r)
	}
	return s.clean(ctx, one)
}

// tidy cancels a move that was not started, or could not be sent, for too long.
func (s *source) tidy(ctx context.Context, one *move, r record) error {
	age := since(r.CreatedAt)
	if r.State == api.MovePrepared && age > startWithin || r.State == api.MoveSending && age > sendWithin {
		return s.cancel(ctx, one, "the move took too long")
	}
	return nil
}

// settle tells the target that the session is its own, until it has confirmed.
func (s *source) settle(ctx context.Context, one *move, r record) error {
	gaveUp := false
	err := s.dial.with(ctx, r, func(p *peer) (err error) {
		gaveUp, err = p.commit(ctx)
		return err
	})
	switch {
	case err != nil:
		return err
	case gaveUp:
		return s.takeBack(ctx, one)
	}
	s.step.reached("confirmed")
	err = s.records.change(one, func(r *record) error {
		r.State, r.EndedAt = api.MoveDone, time.Now().UnixMilli()
		return nil
	})
	if err == nil {
		s.step.reached("done")
	}
	return err
}

// takeBack makes the session one of this host again, because the target has given it up for good.
func (s *source) takeBack(ctx context.Context, one *move) error {
	err := s.records.change(one, func(r *record) error {
		if r.State != api.MoveCommitted {
			return fmt.Errorf("moves: the move is %s", r.State)
		}
		r.State, r.Error = api.MoveCanceling, "the other machine did not hear of it for too long, and gave it up"
		return nil
	})
	if err != nil {
		return err
	}
	s.step.reached("taken back")
	s.sessions.Handover.Resume(context.WithoutCancel(ctx), s.records.of(one).Family)
	return nil
}

// clean removes the session here and tells its watchers where it is. The log that was sent is
// kept as a file for a while.
func (s *source) clean(ctx context.Context, one *move) error {
	r := s.records.of(one)
	s.hub.NotifyMoved(r.ProjectID, api.SessionMoved{ID: r.SessionID, DeviceID: r.To})
	if err := s.sessions.Handover.Remove(ctx, r.Family); err != nil {
		return err
	}
	if err := s.copies.keepLogs(r, s.records.folder(r.ID)); err != nil {
		return err
	}
	if err := s.records.removeItems(one); err != nil {
		return err
	}
	s.step.reached("cleaned")
	if err := s.records.change(one, func(r *record) error { r.Cleaned = true; return nil }); err != nil {
		return err
	}
	return s.forget(ctx, r)
}

// forget lets the target forget the move. It does so by itself after a while.
func (s *source) forget(ctx context.Context, r record) error {
	err := s.dial.with(ctx, r, func(p *peer) error { return p.end(ctx, api.MoveForget) })
	if err != nil {
		s.logger.Info("the other host was not told to forget a move", "move", r.ID, "error", err)
	}
	return nil
}

// tellCanceled has the target delete what it has, which is the end of a canceled move.
func (s *source) tellCanceled(ctx context.Context, one *move, r record) error {
	if err := s.records.removeItems(one); err != nil {
		return err
	}
	err := s.dial.with(ctx, r, func(p *peer) error {
		if err := p.end(ctx, api.MoveAbort); err != nil {
			return err
		}
		return p.end(ctx, api.MoveForget)
	})
	var refused *api.Error
	if errors.As(err, &refused) && refused.Kind == api.KindNotFound { // it has forgotten the move
		err = nil
	}
	if err != nil && since(r.CreatedAt) < toldWithin {
		return err
	}
	return s.records.change(one, func(r *record) error {
		r.State, r.EndedAt = api.MoveCanceled, time.Now().UnixMilli()
		return nil
	})
}

func itemName(i int) string { return strconv.Itoa(i) }
