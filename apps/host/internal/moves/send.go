package moves

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// target is the other host, as the source reaches it.
type target struct {
	client *client.Client
	moveID string
}

// answerWithin bounds the wait for one answer. Checking a large move takes long.
const (
	answerWithin = time.Minute
	checkWithin  = 15 * time.Minute
)

// withTarget connects to the other host, sealed to the keys that the person's client has pinned.
func (m *Moves) withTarget(ctx context.Context, r record, do func(*target) error) error {
	if r.Start == nil {
		return errors.New("moves: the move was not started")
	}
	keys, err := keyfile.Load(m.Paths.Mover(), ident.KindClient)
	if err != nil {
		return err
	}
	proof := r.Start.Proof
	dialer := &paths.Dialer{
		Keys: keys, Label: m.Label(), Invite: m.Invite, InviteURL: m.InviteURL, Device: r.To, Seal: r.Start.Keys.Seal, Name: r.To.String(),
		Proof: func() *api.BindingProof { return &proof },
	}
	var known []paths.Known
	for _, path := range r.Start.Paths {
		known = append(known, paths.Known{Path: paths.Path{Kind: paths.Kind(path.Kind), URL: path.URL}})
	}
	device := paths.New(paths.Config{Known: func() ([]paths.Known, error) { return known, nil }, Dial: dialer.Dial})
	defer func() { _ = device.Close() }() // nothing is prepared
	dialing, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	transport, err := device.Dial(dialing)
	if err != nil {
		return err
	}
	c := client.New(transport, nil)
	defer func() { _ = c.Close() }() // what counts was answered
	return do(&target{client: c, moveID: r.ID})
}

// askTarget sends one request, and does not wait forever.
func askTarget[Request, Response any](ctx context.Context, t *target, within time.Duration, to api.Definition[Request, Response], request Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return client.Call(ctx, t.client, to, request)
}

func (t *target) end(ctx context.Context, outcome api.MoveOutcome) error {
	_, err := askTarget(ctx, t, checkWithin, api.EndMove, api.EndMoveRequest{MoveID: t.moveID, Outcome: outcome})
	return err
}

// commit tells the target that the session is its own. gaveUp reports that it has stored that it
// will never take the session.
func (t *target) commit(ctx context.Context) (gaveUp bool, err error) {
	err = t.end(ctx, api.MoveCommit)
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindBadRequest {
		return false, err
	}
	status, statusErr := askTarget(ctx, t, answerWithin, api.MoveStatus, api.MoveRequest{MoveID: t.moveID})
	if statusErr == nil && status.State == api.MoveCanceled {
		return true, nil
	}
	return false, err
}

// send sends what the target does not have yet, has it checked, and commits the move. A refusal
// of the target cancels the move.
func (m *Moves) send(ctx context.Context, one *move, r record) error {
	err := m.withTarget(ctx, r, func(t *target) error { return m.sendTo(ctx, one, r, t) })
	var refused *api.Error
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &refused) && refused.Kind != api.KindUnavailable:
		return m.cancel(ctx, one, "the other machine refused it: "+refused.Message)
	case errors.Is(err, errBroken):
		return m.cancel(ctx, one, err.Error())
	}
	return err
}

// errBroken says that another attempt cannot help.
var errBroken = errors.New("the move failed")

// maxAgain is how often items are sent again that did not arrive as they were sent.
const maxAgain = 3

func (m *Moves) sendTo(ctx context.Context, one *move, r record, t *target) error {
	for range maxAgain {
		if err := m.sendItems(ctx, one, r, t); err != nil {
			return err
		}
		m.reached("sent")
		checked, err := askTarget(ctx, t, checkWithin, api.CheckMove, api.MoveRequest{MoveID: r.ID})
		var refused *api.Error
		if errors.As(err, &refused) && refused.Kind == api.KindConflict {
			continue // an item was damaged, and is gone there
		}
		switch {
		case err != nil:
			return err
		case checked.Digest != digestOf(r.Offer.Items):
			return fmt.Errorf("%w: the other machine confirmed something else than what was sent", errBroken)
		}
		m.reached("checked")
		return m.commit(one)
	}
	return fmt.Errorf("%w: the data arrived damaged several times", errBroken)
}

func (m *Moves) sendItems(ctx context.Context, one *move, r record, t *target) error {
	status, err := askTarget(ctx, t, answerWithin, api.MoveStatus, api.MoveRequest{MoveID: r.ID})
	switch {
	case err != nil:
		return err
	case status.State == api.MovePrepared: // it has confirmed, and the answer was lost
		return nil
	case status.State != api.MoveSending:
		return fmt.Errorf("%w: the other machine reports that it is %s", errBroken, status.State)
	case len(status.Received) != len(r.Offer.Items):
		return fmt.Errorf("%w: the other machine expects something else", errBroken)
	}
	var sent int64
	for i := range r.Offer.Items {
		one.files.Lock()
		err := m.sendItem(ctx, one, r, t, i, status.Received[i], sent)
		one.files.Unlock()
		if err != nil {
			return err
		}
		sent += r.Offer.Items[i].Size
	}
	return nil
}

func (m *Moves) sendItem(ctx context.Context, one *move, r record, t *target, i int, offset, before int64) error {
	size := r.Offer.Items[i].Size
	if offset < 0 || offset > size {
		return fmt.Errorf("%w: the other machine reports %d of %d bytes", errBroken, offset, size)
	}
	file, err := os.Open(filepath.Join(m.folder(r.ID), itemName(i)))
	if err != nil {
		return fmt.Errorf("moves: reading what is moved: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	part := make([]byte, api.MaxMovePart)
	for offset < size {
		if m.recordOf(one).State != api.MoveSending {
			return errors.New("the move was canceled")
		}
		n, err := file.ReadAt(part[:min(int64(len(part)), size-offset)], offset)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return fmt.Errorf("moves: reading what is moved: %w", err)
		}
		answer, err := askTarget(ctx, t, answerWithin, api.PutMovePart, api.PutMovePartRequest{MoveID: r.ID, Item: i, Offset: offset, Data: part[:n]})
		if err != nil {
			return err
		}
		if answer.Received <= offset || answer.Received > size {
			return errors.New("the other machine did not store what was sent")
		}
		offset = answer.Received
		m.mu.Lock()
		one.sent, one.trouble = before+offset, ""
		m.mu.Unlock()
		m.reached("part")
	}
	return nil
}

// digestOf is the hash of all items.
func digestOf(items []api.MoveItem) string {
	sum := sha256.New()
	for _, item := range items {
		_, _ = fmt.Fprintf(sum, "%s\x00%s\x00%d\x00%s\x00", item.Kind, item.SessionID, item.Size, item.SHA256) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil))
}
