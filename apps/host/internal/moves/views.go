package moves

import (
	"os"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// shown returns a move as clients see it.
func (l *Records) shown(one *move) api.Move {
	received := int64(0)
	if r := l.of(one); r.Incoming && r.State == api.MoveSending {
		for _, n := range l.received(r) {
			received += n
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := one.record
	shown := api.Move{
		ID: r.ID, SessionID: r.SessionID, State: r.State, From: r.From, To: r.To, Incoming: r.Incoming,
		Sent: max(one.sent, received), Total: r.total(), Skipped: r.Skipped, MoreSkipped: r.MoreSkipped, Error: r.Error,
	}
	switch r.State {
	case api.MoveCommitted, api.MoveDone:
		shown.Sent = shown.Total
	case api.MovePrepared:
		if r.Incoming {
			shown.Sent = shown.Total
		}
	}
	if shown.Error == "" {
		shown.Error = one.trouble
	}
	return shown
}

// received returns how much of each item is here.
func (l *Records) received(r record) []int64 {
	list := make([]int64, len(r.Offer.Items))
	for i := range list {
		if info, err := os.Lstat(l.itemPath(r.ID, i)); err == nil {
			list[i] = info.Size()
		}
	}
	return list
}

// leaving returns the move that takes a session away from this host, or took it away.
func (l *Records) leaving(sessionID string) (r record, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.moves {
		if one.record.takes(sessionID) {
			return one.record, true
		}
	}
	return r, false
}

// takes reports whether the session is paused here, or gone.
func (r record) takes(sessionID string) bool {
	if r.Incoming || r.State == api.MoveCanceling || r.State == api.MoveCanceled {
		return false
	}
	return slices.Contains(r.Family, sessionID)
}

// Paused implements sessions.Moves.
func (l *Records) Paused(sessionID string) error {
	if r, ok := l.leaving(sessionID); ok && r.State != api.MoveDone {
		return errPaused(r.To)
	}
	return nil
}

// errPaused names the device, so that clients wait for the end of the move.
func errPaused(to ident.ID) *api.Error {
	err := api.Errorf(api.KindUnavailable, "the session is being moved to another machine: try again in a moment, or cancel the move")
	err.MovingTo = to.String()
	return err
}

// Gone implements sessions.Moves.
func (l *Records) Gone(sessionID string) bool {
	r, ok := l.leaving(sessionID)
	return ok && r.State == api.MoveDone
}

// ProjectOf returns the project of a session that was moved away, as long as that is known.
func (l *Records) ProjectOf(sessionID string) (projectID string, moved bool) {
	r, ok := l.leaving(sessionID)
	return r.ProjectID, ok && r.State == api.MoveDone
}

// Any implements dispatch.Moves.
func (l *Records) Any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.moves) > 0
}

// Refusal implements dispatch.Moves: a session that is being moved can be read, and one that
// was moved is on the other host.
func (l *Records) Refusal(sessionID string, grant api.Grant) *api.Error {
	r, ok := l.leaving(sessionID)
	switch {
	case !ok:
		return nil
	case r.State == api.MoveDone:
		refusal := api.Errorf(api.KindMoved, "the session was moved to the device %s: connect to that device", r.To)
		refusal.DeviceID = r.To.String()
		return refusal
	case grant == api.GrantView, grant == api.GrantFiles:
		return nil
	}
	return errPaused(r.To)
}
