package moves

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

var moveName = regexp.MustCompile(`^mov_[0-9a-f]{32}$`)

// expected checks an offer.
func (m *Moves) expected(offer api.MoveOffer, projectID string) (record, error) {
	r := record{
		ID: offer.MoveID, SessionID: offer.SessionID, ProjectID: projectID, Incoming: true, State: api.MoveSending, Offer: offer,
		From: ident.NewID(ident.KindDevice, ident.Public(offer.From)), To: m.Keys.ID(), Client: ident.NewID(ident.KindClient, ident.Public(offer.Client)), CreatedAt: time.Now().UnixMilli(),
	}
	bad := func(what string) (record, error) {
		return r, api.Errorf(api.KindBadRequest, "the offer of the move is invalid: %s", what)
	}
	for i, item := range offer.Items {
		switch {
		case item.Kind == api.MoveLog && store.CheckName(item.SessionID) == nil && !slices.Contains(r.Family, item.SessionID):
			r.Family = append(r.Family, item.SessionID)
		case item.Kind == api.MoveFiles && i > 0 && offer.Items[i-1].Kind == api.MoveLog && offer.Items[i-1].SessionID == item.SessionID:
		case item.Kind == api.MoveTree && i > 0 && i == len(offer.Items)-1 && item.SessionID == offer.SessionID:
		default:
			return bad(fmt.Sprintf("item %d", i))
		}
		if item.Size < 0 || item.Size > api.MaxMoveItem {
			return bad("the size of an item")
		}
		if item.Size > maxItem(item.Kind) {
			return r, api.Errorf(api.KindTooLarge, "the session is too large to be moved: a part has %d MiB, the limit is %d", item.Size>>20, maxItem(item.Kind)>>20)
		}
	}
	switch {
	case !moveName.MatchString(offer.MoveID):
		return bad("its id")
	case len(r.Family) == 0 || r.Family[0] != offer.SessionID:
		return bad("the session comes first")
	case r.From == r.To:
		return bad("it comes from this host")
	case r.total() > api.MaxMoveBytes:
		return r, api.Errorf(api.KindTooLarge, "the session is too large to be moved: %d bytes, the limit is %d", r.total(), int64(api.MaxMoveBytes))
	}
	return r, nil
}

// ofSource returns a move to this host, for a request of its source.
func (m *Moves) ofSource(c *dispatch.Conn, id string) (*move, record, error) {
	return m.find(id, func(r record) bool { return r.Incoming && c.ClientID() == r.Client.String() })
}

func (m *Moves) moveStatus(_ context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.MoveStatusResponse, err error) {
	_, r, err := m.ofSource(c, request.MoveID)
	if err != nil {
		return response, err
	}
	return api.MoveStatusResponse{State: r.State, Received: m.received(r)}, nil
}

// received returns how much of each item is here.
func (m *Moves) received(r record) []int64 {
	list := make([]int64, len(r.Offer.Items))
	for i := range list {
		if info, err := os.Lstat(filepath.Join(m.folder(r.ID), itemName(i))); err == nil {
			list[i] = info.Size()
		}
	}
	return list
}

// putMovePart adds a part to the end of an item.
func (m *Moves) putMovePart(_ context.Context, c *dispatch.Conn, request api.PutMovePartRequest) (response api.PutMovePartResponse, err error) {
	one, r, err := m.ofSource(c, request.MoveID)
	if err != nil {
		return response, err
	}
	one.files.Lock()
	defer one.files.Unlock()
	switch r = m.recordOf(one); {
	case r.State != api.MoveSending:
		return response, api.Errorf(api.KindBadRequest, "the move takes no more data: it is %s", r.State)
	case request.Item >= len(r.Offer.Items):
		return response, api.Errorf(api.KindBadRequest, "the move has no item %d", request.Item)
	case len(request.Data) > api.MaxMovePart, request.Offset+int64(len(request.Data)) > r.Offer.Items[request.Item].Size:
		return response, api.Errorf(api.KindTooLarge, "the part is larger than what was offered")
	}
	file, err := os.OpenFile(filepath.Join(m.folder(r.ID), itemName(request.Item)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return response, fmt.Errorf("moves: storing a part: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() == request.Offset {
		_, err = file.WriteAt(request.Data, request.Offset)
		if err != nil {
			err = errors.Join(err, file.Truncate(request.Offset))
		} else {
			response.Received = request.Offset + int64(len(request.Data))
		}
	} else if err == nil {
		response.Received = info.Size()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return response, api.Errorf(api.KindUnavailable, "the other machine could not store a part: %v", err)
	}
	m.reached("received")
	return response, nil
}

// checkMove confirms that everything has arrived, is what was offered, and is on disk.
func (m *Moves) checkMove(ctx context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.CheckMoveResponse, err error) {
	one, r, err := m.ofSource(c, request.MoveID)
	if err != nil {
		return response, err
	}
	one.files.Lock()
	defer one.files.Unlock()
	if r = m.recordOf(one); r.State == api.MoveSending {
		if err := m.verify(ctx, r); err != nil {
			return response, err
		}
		err = m.change(one, func(r *record) error {
			if r.State != api.MoveSending {
				return errCanceledHere()
			}
			r.State, r.ConfirmedAt = api.MovePrepared, time.Now().UnixMilli()
			return nil
		})
	} else if r.State == api.MoveCanceled {
		err = errCanceledHere()
	}
	if err != nil {
		return response, err
	}
	m.reached("verified")
	return api.CheckMoveResponse{Digest: digestOf(r.Offer.Items)}, nil
}

func errCanceledHere() error {
	return api.Errorf(api.KindBadRequest, "the move was canceled on this machine")
}

// endMove does what the source says about how the move ended.
func (m *Moves) endMove(ctx context.Context, c *dispatch.Conn, request api.EndMoveRequest) (api.Empty, error) {
	one, r, err := m.ofSource(c, request.MoveID)
	if err != nil {
		return api.Empty{}, err
	}
	switch request.Outcome {
	case api.MoveCommit:
		return api.Empty{}, m.take(ctx, one)
	case api.MoveAbort:
		return api.Empty{}, m.abort(one)
	case api.MoveForget:
		if !r.ended() {
			return api.Empty{}, api.Errorf(api.KindConflict, "the move has not ended: it is %s", r.State)
		}
		if r.TreeError == "" { // otherwise people still look for it
			if err := m.drop(one); err != nil {
				return api.Empty{}, err
			}
		}
		m.reached("forgotten")
		// The answer goes over the connection that ends with the client. If the host ends first,
		// the next one removes the client.
		context.AfterFunc(c.Ended(), func() {
			m.within(func(ctx context.Context) {
				if err := m.release(ctx, r); err != nil {
					m.Logger.Warn("removing the client of a move", "move", r.ID, "error", err)
				}
			})
		})
		return api.Empty{}, nil
	}
	return api.Empty{}, api.Errorf(api.KindBadRequest, "unknown outcome %.20q of a move", request.Outcome)
}

// take makes the session one of this host.
func (m *Moves) take(ctx context.Context, one *move) error {
	err := m.change(one, func(r *record) error {
		switch r.State {
		case api.MovePrepared:
			r.State = api.MoveCommitted
			return nil
		case api.MoveCommitted, api.MoveDone:
			return errAlready
		}
		return api.Errorf(api.KindBadRequest, "the move cannot be committed: it is %s", r.State)
	})
	if err != nil && !errors.Is(err, errAlready) {
		return err
	}
	m.reached("taken")
	return m.install(context.WithoutCancel(ctx), one)
}

// abort deletes what arrived, because the source says that the session stays there.
func (m *Moves) abort(one *move) error {
	err := m.change(one, func(r *record) error {
		switch r.State {
		case api.MoveSending, api.MovePrepared:
			r.State, r.Error, r.EndedAt = api.MoveCanceled, "it was canceled on the machine that the session is on", time.Now().UnixMilli()
			return nil
		case api.MoveCanceled:
			return errAlready
		}
		return api.Errorf(api.KindBadRequest, "the move is committed already: it is %s", r.State)
	})
	if err != nil && !errors.Is(err, errAlready) {
		return err
	}
	m.reached("aborted")
	return m.removeItems(one)
}

// abandon deletes what arrived although the source has not said so. It is possible only while
// this host has not confirmed: afterwards the source may have committed.
func (m *Moves) abandon(one *move, why string) error {
	err := m.change(one, func(r *record) error {
		switch r.State {
		case api.MoveSending:
			r.State, r.Error, r.EndedAt = api.MoveCanceled, why, time.Now().UnixMilli()
			return nil
		case api.MoveCanceled:
			return errAlready
		case api.MovePrepared:
			return api.Errorf(api.KindConflict, "everything has arrived, and the session may belong to this machine already: cancel the move on the machine that it comes from")
		}
		return api.Errorf(api.KindConflict, "the session belongs to this machine already")
	})
	if err != nil && !errors.Is(err, errAlready) {
		return err
	}
	return m.removeItems(one)
}

// giveUp ends a move that this host has confirmed and of which it never heard again. The record
// is kept: a source that comes back must not find that this host could still take the session,
// and takes the session back itself. The logs are kept as files for a while.
func (m *Moves) giveUp(one *move) error {
	err := m.change(one, func(r *record) error {
		switch {
		case r.State == api.MovePrepared:
			r.State, r.GaveUp, r.EndedAt = api.MoveCanceled, true, time.Now().UnixMilli()
			r.Error = "the machine that the session comes from never said how the move ended"
			return nil
		case r.GaveUp:
			return errAlready // before a crash
		}
		return api.Errorf(api.KindConflict, "the move is %s", r.State)
	})
	if err != nil && !errors.Is(err, errAlready) {
		return err
	}
	m.reached("given up")
	one.files.Lock()
	defer one.files.Unlock()
	r := m.recordOf(one)
	if err := m.keepCopy(r); err != nil {
		return err
	}
	return removeItems(m.folder(r.ID))
}
