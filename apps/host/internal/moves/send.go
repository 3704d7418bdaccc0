package moves

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/scorel/scorel/packages/protocol/api"
)

// send sends what the target does not have yet, has it checked, and commits the move. A refusal
// of the target cancels the move.
func (s *source) send(ctx context.Context, one *move, r record) error {
	err := s.dial.with(ctx, r, func(p *peer) error {
		return (&sending{source: s, move: one, record: r, to: p}).all(ctx)
	})
	var refused *api.Error
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &refused) && refused.Kind != api.KindUnavailable:
		return s.cancel(ctx, one, "the other machine refused it: "+refused.Message)
	case errors.Is(err, errBroken):
		return s.cancel(ctx, one, err.Error())
	}
	return err
}

// errBroken says that another attempt cannot help.
var errBroken = errors.New("the move failed")

// maxAgain is how often items are sent again that did not arrive as they were sent.
const maxAgain = 3

// sending is one attempt to send a move to its target.
type sending struct {
	*source
	move   *move
	record record
	to     *peer
}

// all sends the items that the target does not have, has them checked and commits the move.
func (s *sending) all(ctx context.Context) error {
	for range maxAgain {
		if err := s.items(ctx); err != nil {
			return err
		}
		s.step.reached("sent")
		checked, err := ask(ctx, s.to, checkWithin, api.CheckMove, api.MoveRequest{MoveID: s.record.ID})
		var refused *api.Error
		if errors.As(err, &refused) && refused.Kind == api.KindConflict {
			continue // an item was damaged, and is gone there
		}
		switch {
		case err != nil:
			return err
		case checked.Digest != digestOf(s.record.Offer.Items):
			return fmt.Errorf("%w: the other machine confirmed something else than what was sent", errBroken)
		}
		s.step.reached("checked")
		return s.commit(s.move)
	}
	return fmt.Errorf("%w: the data arrived damaged several times", errBroken)
}

func (s *sending) items(ctx context.Context) error {
	status, err := ask(ctx, s.to, answerWithin, api.MoveStatus, api.MoveRequest{MoveID: s.record.ID})
	switch {
	case err != nil:
		return err
	case status.State == api.MovePrepared: // it has confirmed, and the answer was lost
		return nil
	case status.State != api.MoveSending:
		return fmt.Errorf("%w: the other machine reports that it is %s", errBroken, status.State)
	case len(status.Received) != len(s.record.Offer.Items):
		return fmt.Errorf("%w: the other machine expects something else", errBroken)
	}
	var sent int64
	for i := range s.record.Offer.Items {
		s.move.files.Lock()
		err := s.item(ctx, i, status.Received[i], sent)
		s.move.files.Unlock()
		if err != nil {
			return err
		}
		sent += s.record.Offer.Items[i].Size
	}
	return nil
}

// item sends an item from an offset on. before are the bytes of the items that were sent already.
func (s *sending) item(ctx context.Context, i int, offset, before int64) error {
	size := s.record.Offer.Items[i].Size
	if offset < 0 || offset > size {
		return fmt.Errorf("%w: the other machine reports %d of %d bytes", errBroken, offset, size)
	}
	file, err := os.Open(s.records.itemPath(s.record.ID, i))
	if err != nil {
		return fmt.Errorf("moves: reading what is moved: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	part := make([]byte, api.MaxMovePart)
	for offset < size {
		if s.records.of(s.move).State != api.MoveSending {
			return errors.New("the move was canceled")
		}
		n, err := file.ReadAt(part[:min(int64(len(part)), size-offset)], offset)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return fmt.Errorf("moves: reading what is moved: %w", err)
		}
		answer, err := ask(ctx, s.to, answerWithin, api.PutMovePart, api.PutMovePartRequest{MoveID: s.record.ID, Item: i, Offset: offset, Data: part[:n]})
		if err != nil {
			return err
		}
		if answer.Received <= offset || answer.Received > size {
			return errors.New("the other machine did not store what was sent")
		}
		offset = answer.Received
		s.records.setSent(s.move, before+offset)
		s.step.reached("part")
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
