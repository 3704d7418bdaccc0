package moves

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Endpoints are the requests about moves.
func (m *Moves) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.PrepareMove, m.prepareMove),
		dispatch.Serve(api.StartMove, m.startMove),
		dispatch.Serve(api.AcceptMove, m.acceptMove),
		dispatch.Serve(api.ListMoves, m.listMoves),
		dispatch.Serve(api.GetMove, m.getMove),
		dispatch.Serve(api.CancelMove, m.cancelMove),
		dispatch.Serve(api.MoveStatus, m.moveStatus),
		dispatch.Serve(api.PutMovePart, m.putMovePart),
		dispatch.Serve(api.CheckMove, m.checkMove),
		dispatch.Serve(api.EndMove, m.endMove),
	}
}

func (m *Moves) listMoves(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.ListMovesResponse, error) {
	response := api.ListMovesResponse{Moves: []api.Move{}}
	for _, one := range m.all() {
		if c.SeesProject(m.recordOf(one).ProjectID) {
			response.Moves = append(response.Moves, m.shown(one))
		}
	}
	return response, nil
}

// seen returns a move whose session is, was or will be in a project that the connection sees.
func (m *Moves) seen(c *dispatch.Conn, id string) (*move, record, error) {
	return m.find(id, func(r record) bool { return c.SeesProject(r.ProjectID) })
}

func (m *Moves) getMove(_ context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.MoveResponse, err error) {
	one, _, err := m.seen(c, request.MoveID)
	if err != nil {
		return response, err
	}
	return api.MoveResponse{Move: m.shown(one)}, nil
}

func (m *Moves) shown(one *move) api.Move {
	received := int64(0)
	if r := m.recordOf(one); r.Incoming && r.State == api.MoveSending {
		for _, n := range m.received(r) {
			received += n
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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

// leaving returns the move that takes a session away from this host, or took it away.
func (m *Moves) leaving(sessionID string) (r record, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.moves {
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
	for _, id := range r.Family {
		if id == sessionID {
			return true
		}
	}
	return false
}

// Paused implements sessions.Moves.
func (m *Moves) Paused(sessionID string) error {
	if r, ok := m.leaving(sessionID); ok && r.State != api.MoveDone {
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
func (m *Moves) Gone(sessionID string) bool {
	r, ok := m.leaving(sessionID)
	return ok && r.State == api.MoveDone
}

// ProjectOf returns the project of a session that was moved away, as long as that is known.
func (m *Moves) ProjectOf(sessionID string) (projectID string, moved bool) {
	r, ok := m.leaving(sessionID)
	return r.ProjectID, ok && r.State == api.MoveDone
}

// Any implements dispatch.Moves.
func (m *Moves) Any() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.moves) > 0
}

// Refusal implements dispatch.Moves: a session that is being moved can be read, and one that
// was moved is on the other host.
func (m *Moves) Refusal(sessionID string, grant api.Grant) *api.Error {
	r, ok := m.leaving(sessionID)
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
