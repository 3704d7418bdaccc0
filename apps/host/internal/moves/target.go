package moves

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// target receives the moves to this host. It stores what arrives apart from the sessions, until
// the source has committed the move.
type target struct {
	records   *Records
	driver    *driver
	admission *admission
	installer *installer
	keys      *ident.Private // of the device
	projects  *state.Projects
	paths     state.Paths
	trees     Trees
	listPaths func() []api.Path
	copies    copies
	step      steps
	logger    *slog.Logger
	began     time.Time // when this host could be reached
}

// acceptMove has this host expect a session. The source becomes a client that may do nothing
// but this.
func (t *target) acceptMove(_ context.Context, c *dispatch.Conn, request api.AcceptMoveRequest) (response api.AcceptMoveResponse, err error) {
	if !c.May(api.GrantPrompt) { // its queue runs here
		return response, c.Lacks(api.GrantPrompt, "accepting a session also")
	}
	project, err := t.projects.Find(request.ProjectID)
	if err != nil {
		return response, err
	}
	r, err := expected(t.keys.ID(), request.Offer, project.ID)
	if err != nil {
		return response, err
	}
	if _, moved := treeOf(r); moved {
		if err := t.trees.CheckProject(project); err != nil {
			return response, err
		}
	}
	if err := t.admission.expect(r); err != nil {
		return response, err
	}
	now := time.Now().UnixMilli()
	t.step.reached("accepted")
	return api.AcceptMoveResponse{
		Keys: api.DeviceKeys(t.keys.Public()), Paths: t.listPaths(), Proof: api.BindingProof{SignedAt: now, Signature: wire.SignBinding(t.keys, r.Client, now)},
	}, nil
}

// ofSource returns a move to this host, for a request of its source.
func (t *target) ofSource(c *dispatch.Conn, id string) (*move, record, error) {
	return t.records.find(id, func(r record) bool { return r.Incoming && c.ClientID() == r.Client.String() })
}

func (t *target) moveStatus(_ context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.MoveStatusResponse, err error) {
	_, r, err := t.ofSource(c, request.MoveID)
	if err != nil {
		return response, err
	}
	return api.MoveStatusResponse{State: r.State, Received: t.records.received(r)}, nil
}

// putMovePart adds a part to the end of an item.
func (t *target) putMovePart(_ context.Context, c *dispatch.Conn, request api.PutMovePartRequest) (response api.PutMovePartResponse, err error) {
	one, r, err := t.ofSource(c, request.MoveID)
	if err != nil {
		return response, err
	}
	one.files.Lock()
	defer one.files.Unlock()
	switch r = t.records.of(one); {
	case r.State != api.MoveSending:
		return response, api.Errorf(api.KindBadRequest, "the move takes no more data: it is %s", r.State)
	case request.Item >= len(r.Offer.Items):
		return response, api.Errorf(api.KindBadRequest, "the move has no item %d", request.Item)
	case len(request.Data) > api.MaxMovePart, request.Offset+int64(len(request.Data)) > r.Offer.Items[request.Item].Size:
		return response, api.Errorf(api.KindTooLarge, "the part is larger than what was offered")
	}
	file, err := os.OpenFile(t.records.itemPath(r.ID, request.Item), os.O_RDWR|os.O_CREATE, 0o600)
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
	t.step.reached("received")
	return response, nil
}

// checkMove confirms that everything has arrived, is what was offered, and is on disk.
func (t *target) checkMove(ctx context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.CheckMoveResponse, err error) {
	one, r, err := t.ofSource(c, request.MoveID)
	if err != nil {
		return response, err
	}
	one.files.Lock()
	defer one.files.Unlock()
	if r = t.records.of(one); r.State == api.MoveSending {
		if err := t.verify(ctx, r); err != nil {
			return response, err
		}
		err = t.records.change(one, func(r *record) error {
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
	t.step.reached("verified")
	return api.CheckMoveResponse{Digest: digestOf(r.Offer.Items)}, nil
}

func errCanceledHere() error {
	return api.Errorf(api.KindBadRequest, "the move was canceled on this machine")
}

// endMove does what the source says about how the move ended.
func (t *target) endMove(ctx context.Context, c *dispatch.Conn, request api.EndMoveRequest) (api.Empty, error) {
	one, r, err := t.ofSource(c, request.MoveID)
	if err != nil {
		return api.Empty{}, err
	}
	switch request.Outcome {
	case api.MoveCommit:
		return api.Empty{}, t.take(ctx, one)
	case api.MoveAbort:
		return api.Empty{}, t.abort(one)
	case api.MoveForget:
		if !r.ended() {
			return api.Empty{}, api.Errorf(api.KindConflict, "the move has not ended: it is %s", r.State)
		}
		if r.TreeError == "" { // otherwise people still look for it
			if err := t.records.drop(one); err != nil {
				return api.Empty{}, err
			}
		}
		t.step.reached("forgotten")
		// The answer goes over the connection that ends with the client. If the host ends first,
		// the next one removes the client.
		context.AfterFunc(c.Ended(), func() {
			t.driver.within(func(ctx context.Context) {
				if err := t.admission.release(ctx, r); err != nil {
					t.logger.Warn("removing the client of a move", "move", r.ID, "error", err)
				}
			})
		})
		return api.Empty{}, nil
	}
	return api.Empty{}, api.Errorf(api.KindBadRequest, "unknown outcome %.20q of a move", request.Outcome)
}

// take makes the session one of this host.
func (t *target) take(ctx context.Context, one *move) error {
	err := t.records.change(one, func(r *record) error {
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
	t.step.reached("taken")
	return t.installer.install(context.WithoutCancel(ctx), one)
}

// abort deletes what arrived, because the source says that the session stays there.
func (t *target) abort(one *move) error {
	err := t.records.change(one, func(r *record) error {
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
	t.step.reached("aborted")
	return t.records.removeItems(one)
}

// abandon deletes what arrived although the source has not said so. It is possible only while
// this host has not confirmed: afterwards the source may have committed.
func (t *target) abandon(one *move, why string) error {
	err := t.records.change(one, func(r *record) error {
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
	return t.records.removeItems(one)
}

// giveUp ends a move that this host has confirmed and of which it never heard again. The record
// is kept: a source that comes back must not find that this host could still take the session,
// and takes the session back itself. The logs are kept as files for a while.
func (t *target) giveUp(one *move) error {
	err := t.records.change(one, func(r *record) error {
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
	t.step.reached("given up")
	one.files.Lock()
	defer one.files.Unlock()
	r := t.records.of(one)
	if err := t.copies.keepLogs(r, t.records.folder(r.ID)); err != nil {
		return err
	}
	return removeItems(t.records.folder(r.ID))
}

// tidy ends a move of which nothing was heard for too long.
func (t *target) tidy(one *move, r record) error {
	switch {
	case r.State == api.MoveSending && since(r.CreatedAt) > receiveWithin:
		return t.abandon(one, "nothing arrived for too long")
	case t.silent(r), r.GaveUp && t.holds(r):
		return t.giveUp(one)
	}
	return nil
}

// silent reports whether the source of a confirmed move has not been heard for too long. It
// gets some time after a start of this host.
func (t *target) silent(r record) bool {
	return r.State == api.MovePrepared && since(max(r.ConfirmedAt, r.CreatedAt)) > toldWithin && time.Since(t.began) > heardAfter
}

// holds reports whether something that arrived is still in the folder of a move.
func (t *target) holds(r record) bool {
	entries, err := os.ReadDir(t.records.folder(r.ID))
	return err == nil && len(entries) > 1 // one is the record
}
