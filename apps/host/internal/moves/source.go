package moves

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// prepareMove pauses a session and keeps a copy of all that is moved.
func (m *Moves) prepareMove(ctx context.Context, conn *dispatch.Conn, request api.PrepareMoveRequest) (response api.PrepareMoveResponse, err error) {
	if request.WithFiles && !conn.May(api.GrantFiles) {
		return response, errFilesNotAllowed()
	}
	opened, err := m.sessions.Open(request.SessionID)
	if err != nil {
		return response, err
	}
	summary, err := opened.Summary(ctx)
	switch {
	case err != nil:
		return response, err
	case summary.ParentSessionID != "":
		return response, api.Errorf(api.KindConflict, "this is the session of a subagent: move the session that it belongs to, %s", summary.ParentSessionID)
	case request.To == m.Keys.ID():
		return response, api.Errorf(api.KindConflict, "the session is on this machine already: choose another one")
	}
	family, err := m.sessions.PauseFamily(ctx, request.SessionID, errPaused(request.To), request.Wait)
	if err != nil {
		return response, err
	}
	r := record{
		ID: newMoveID(), SessionID: request.SessionID, Family: family, ProjectID: summary.ProjectID, State: api.MovePrepared,
		From: m.Keys.ID(), To: request.To, CreatedAt: time.Now().UnixMilli(),
	}
	one, err := m.stage(ctx, r, request.WithFiles)
	if err != nil {
		m.sessions.Resume(context.WithoutCancel(ctx), family)
		return response, errors.Join(err, removeFolder(m.folder(r.ID)))
	}
	m.reached("prepared")
	return api.PrepareMoveResponse{Move: m.shown(one), Offer: m.recordOf(one).Offer}, nil
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
func (m *Moves) stage(ctx context.Context, r record, withFiles bool) (*move, error) {
	keys, err := keyfile.LoadOrCreate(m.Paths.Mover(), ident.KindClient)
	if err != nil {
		return nil, err
	}
	folder := m.folder(r.ID)
	if err := atomicfile.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("moves: creating a folder: %w", err)
	}
	s := &stager{moves: m, folder: folder, record: &r, withFiles: withFiles}
	r.Offer = api.MoveOffer{MoveID: r.ID, SessionID: r.SessionID, From: api.DeviceKeys(m.Keys.Public()), Label: m.Label(), Client: api.DeviceKeys(keys.Public()), Items: []api.MoveItem{}}
	if err := s.all(ctx); err != nil {
		return nil, err
	}
	return m.add(r)
}

// startMove has a prepared move sent.
func (m *Moves) startMove(_ context.Context, c *dispatch.Conn, request api.StartMoveRequest) (response api.MoveResponse, err error) {
	one, r, err := m.seen(c, request.MoveID)
	switch {
	case err != nil:
		return response, err
	case r.Incoming:
		return response, unknownMove(request.MoveID)
	}
	err = m.change(one, func(r *record) error {
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
	m.reached("started")
	return api.MoveResponse{Move: m.shown(one)}, nil
}

var errAlready = errors.New("moves: it is so already")

// cancelMove cancels a move on either host.
func (m *Moves) cancelMove(ctx context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.MoveResponse, err error) {
	one, r, err := m.seen(c, request.MoveID)
	switch {
	case err != nil:
		return response, err
	case r.Incoming:
		err = m.abandon(one, "it was canceled on the machine that receives it")
	default:
		err = m.cancel(ctx, one, "it was canceled")
	}
	return api.MoveResponse{Move: m.shown(one)}, err
}

// cancel ends a move that is not committed. The session continues here at once; the target is
// told afterwards.
func (m *Moves) cancel(ctx context.Context, one *move, why string) error {
	var before record
	err := m.change(one, func(r *record) error {
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
	m.reached("canceled")
	select {
	case one.wake <- struct{}{}:
	default:
	}
	m.sessions.Resume(context.WithoutCancel(ctx), before.Family)
	if before.State == api.MovePrepared {
		return m.removeItems(one)
	}
	return nil
}

func (m *Moves) removeItems(one *move) error {
	one.files.Lock()
	defer one.files.Unlock()
	return removeItems(m.folder(m.recordOf(one).ID))
}

// commit stores that the session belongs to the target. It is the moment at which the session
// changes its owner.
func (m *Moves) commit(one *move) error {
	err := m.change(one, func(r *record) error {
		if r.State != api.MoveSending {
			return fmt.Errorf("moves: the move is %s", r.State) // it was canceled in the meantime
		}
		r.State = api.MoveCommitted
		return nil
	})
	if err == nil {
		m.reached("committed")
	}
	return err
}

// settle tells the target that the session is its own, until it has confirmed.
func (m *Moves) settle(ctx context.Context, one *move, r record) error {
	gaveUp := false
	err := m.withTarget(ctx, r, func(t *target) (err error) {
		gaveUp, err = t.commit(ctx)
		return err
	})
	switch {
	case err != nil:
		return err
	case gaveUp:
		return m.takeBack(ctx, one)
	}
	m.reached("confirmed")
	err = m.change(one, func(r *record) error {
		r.State, r.EndedAt = api.MoveDone, time.Now().UnixMilli()
		return nil
	})
	if err == nil {
		m.reached("done")
	}
	return err
}

// takeBack makes the session one of this host again, because the target has given it up for good.
func (m *Moves) takeBack(ctx context.Context, one *move) error {
	err := m.change(one, func(r *record) error {
		if r.State != api.MoveCommitted {
			return fmt.Errorf("moves: the move is %s", r.State)
		}
		r.State, r.Error = api.MoveCanceling, "the other machine did not hear of it for too long, and gave it up"
		return nil
	})
	if err != nil {
		return err
	}
	m.reached("taken back")
	m.sessions.Resume(context.WithoutCancel(ctx), m.recordOf(one).Family)
	return nil
}

// clean removes the session here and tells its watchers where it is. The log that was sent is
// kept as a file for a while.
func (m *Moves) clean(ctx context.Context, one *move) error {
	r := m.recordOf(one)
	m.Hub.NotifyMoved(r.ProjectID, api.SessionMoved{ID: r.SessionID, DeviceID: r.To})
	if err := m.sessions.Remove(ctx, r.Family); err != nil {
		return err
	}
	if err := m.keepCopy(r); err != nil {
		return err
	}
	if err := m.removeItems(one); err != nil {
		return err
	}
	m.reached("cleaned")
	if err := m.change(one, func(r *record) error { r.Cleaned = true; return nil }); err != nil {
		return err
	}
	return m.forget(ctx, r)
}

// forget lets the target forget the move. It does so by itself after a while.
func (m *Moves) forget(ctx context.Context, r record) error {
	err := m.withTarget(ctx, r, func(t *target) error { return t.end(ctx, api.MoveForget) })
	if err != nil {
		m.Logger.Info("the other host was not told to forget a move", "move", r.ID, "error", err)
	}
	return nil
}

func (m *Moves) keepCopy(r record) error {
	if err := atomicfile.MkdirAll(m.Paths.Moved(), 0o700); err != nil {
		return fmt.Errorf("moves: creating the folder of copies: %w", err)
	}
	for i, item := range r.Offer.Items {
		if item.Kind != api.MoveLog {
			continue
		}
		err := os.Rename(filepath.Join(m.folder(r.ID), itemName(i)), filepath.Join(m.Paths.Moved(), item.SessionID+".jsonl"))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // it was kept before a crash
			return fmt.Errorf("moves: keeping the log of a moved session: %w", err)
		}
	}
	if err := atomicfile.SyncDir(m.Paths.Moved()); err != nil { // before the rest of the move is removed
		return fmt.Errorf("moves: keeping the log of a moved session: %w", err)
	}
	return nil
}

// tellCanceled has the target delete what it has, which is the end of a canceled move.
func (m *Moves) tellCanceled(ctx context.Context, one *move, r record) error {
	if err := m.removeItems(one); err != nil {
		return err
	}
	err := m.withTarget(ctx, r, func(t *target) error {
		if err := t.end(ctx, api.MoveAbort); err != nil {
			return err
		}
		return t.end(ctx, api.MoveForget)
	})
	var refused *api.Error
	if errors.As(err, &refused) && refused.Kind == api.KindNotFound { // it has forgotten the move
		err = nil
	}
	if err != nil && time.Since(time.UnixMilli(r.CreatedAt)) < toldWithin {
		return err
	}
	return m.change(one, func(r *record) error {
		r.State, r.EndedAt = api.MoveCanceled, time.Now().UnixMilli()
		return nil
	})
}

func itemName(i int) string { return strconv.Itoa(i) }
