// Package moves moves sessions to other hosts. The host that a session leaves (the source)
// connects to the other one (the target) as a client that may do nothing else, and sends what
// belongs to the session. Exactly one of the two owns the session at any time:
//
//   - The source pauses the session and keeps a copy of all that is sent, with an entry at the
//     end of the log that hands the session over and that the source has signed.
//   - The target stores what it receives apart from its sessions, checks all of it, syncs it to
//     disk and confirms.
//   - The source then stores that the move is committed. That record is the moment at which the
//     session changes its owner. Before it, the source owns the session and may cancel. After it,
//     the source tells the target again and again, also after restarts, until that has confirmed.
//
// Each record is one file, replaced atomically and synced. Records owns them, source and target
// are the two sides of a move, and driver runs what a move still needs.
package moves

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Options are the parts that moves work with. All but Invite and Step are required.
type Options struct {
	Logger   *slog.Logger
	Paths    state.Paths
	Keys     *ident.Private // of the device
	Label    func() string  // of the device
	Clients  *state.Clients
	Projects *state.Projects
	Sessions *sessions.Manager
	Hub      *dispatch.Hub
	Trees    Trees
	// Closed returns a function that reports whether clients cannot read a file of the folder
	// in which a session works, by its path there.
	Closed func(project api.Project, sessionID string) (func(path string) bool, error)
	// ListPaths are the paths to this device.
	ListPaths func() []api.Path
	// Refresh applies a change of the list of clients; Remove removes a client from it, and from
	// the relays.
	Refresh func(ident.ID)
	Remove  func(context.Context, ident.ID) error
	// Invite is for the relay at InviteURL, if it asks newcomers for one.
	Invite, InviteURL string
	// Step is called when a move has reached a durable step; tests stop there. nil does nothing.
	Step func(name string)
}

// Moves are the moves of a host, in both directions.
type Moves struct {
	*Records
	driver *driver
	source *source
	target *target
	copies copies
	logger *slog.Logger
}

// steps tells a test that a move has reached a step.
type steps func(name string)

func (s steps) reached(name string) {
	if s != nil {
		s(name)
	}
}

// New makes the moves that have these records. Run continues them.
func New(records *Records, o Options) *Moves {
	kept := copies(o.Paths.Moved())
	m := &Moves{Records: records, copies: kept, logger: o.Logger}
	m.driver = &driver{records: records, logger: o.Logger, step: m.continueMove, driven: map[*move]bool{}}
	records.changed = m.driver.start
	m.source = &source{
		records: records, sessions: o.Sessions, keys: o.Keys, paths: o.Paths, hub: o.Hub, trees: o.Trees, closed: o.Closed,
		dial:   dialing{keys: o.Paths.Mover(), label: o.Label, invite: o.Invite, inviteURL: o.InviteURL},
		copies: kept, step: o.Step, logger: o.Logger,
	}
	m.target = &target{
		records: records, driver: m.driver, keys: o.Keys, projects: o.Projects, paths: o.Paths, trees: o.Trees, listPaths: o.ListPaths,
		admission: &admission{
			records: records, sessions: o.Sessions, paths: o.Paths, clients: o.Clients, projects: o.Projects, refresh: o.Refresh, remove: o.Remove, logger: o.Logger,
		},
		installer: &installer{
			records: records, sessions: o.Sessions, projects: o.Projects, paths: o.Paths, trees: o.Trees, copies: kept, step: o.Step, logger: o.Logger,
		},
		copies: kept, step: o.Step, logger: o.Logger, began: time.Now(),
	}
	return m
}

// continueMove does the next step of a move that has something to do.
func (m *Moves) continueMove(ctx context.Context, one *move, r record) error {
	if r.Incoming {
		return m.target.installer.install(ctx, one)
	}
	return m.source.next(ctx, one, r)
}

// Run continues the moves of the host until ctx ends.
func (m *Moves) Run(ctx context.Context) {
	m.driver.begin(ctx)
	defer m.driver.end()
	m.target.admission.releaseForgotten(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-timer.C:
			m.tidy(ctx)
		case <-m.added:
		case <-ctx.Done():
		}
		timer.Reset(m.tidyPause())
	}
}

// Endpoints are the requests about moves.
func (m *Moves) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.PrepareMove, m.source.prepareMove),
		dispatch.Serve(api.StartMove, m.source.startMove),
		dispatch.Serve(api.AcceptMove, m.target.acceptMove),
		dispatch.Serve(api.ListMoves, m.listMoves),
		dispatch.Serve(api.GetMove, m.getMove),
		dispatch.Serve(api.CancelMove, m.cancelMove),
		dispatch.Serve(api.MoveStatus, m.target.moveStatus),
		dispatch.Serve(api.PutMovePart, m.target.putMovePart),
		dispatch.Serve(api.CheckMove, m.target.checkMove),
		dispatch.Serve(api.EndMove, m.target.endMove),
	}
}

func (m *Moves) listMoves(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.ListMovesResponse, error) {
	response := api.ListMovesResponse{Moves: []api.Move{}}
	for _, one := range m.all() {
		if c.SeesProject(m.of(one).ProjectID) {
			response.Moves = append(response.Moves, m.shown(one))
		}
	}
	return response, nil
}

func (m *Moves) getMove(_ context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.MoveResponse, err error) {
	one, _, err := m.seen(c, request.MoveID)
	if err != nil {
		return response, err
	}
	return api.MoveResponse{Move: m.shown(one)}, nil
}

// cancelMove cancels a move on either host.
func (m *Moves) cancelMove(ctx context.Context, c *dispatch.Conn, request api.MoveRequest) (response api.MoveResponse, err error) {
	one, r, err := m.seen(c, request.MoveID)
	switch {
	case err != nil:
		return response, err
	case r.Incoming:
		err = m.target.abandon(one, "it was canceled on the machine that receives it")
	default:
		err = m.source.cancel(ctx, one, "it was canceled")
	}
	return api.MoveResponse{Move: m.shown(one)}, err
}

// WhileUnexpected calls do unless a session is about to arrive in the project. Until do
// returns, no such move is accepted.
func (m *Moves) WhileUnexpected(projectID string, do func() error) error {
	return m.target.admission.whileUnexpected(projectID, do)
}

// How long moves are kept that nobody continues.
const (
	startWithin   = 10 * time.Minute    // from prepare_move to start_move
	receiveWithin = 24 * time.Hour      // until everything has arrived
	sendWithin    = 24 * time.Hour      // until everything was sent
	listedFor     = 7 * 24 * time.Hour  // after the end
	toldWithin    = 90 * 24 * time.Hour // for the other host to learn how a move ended
	heardAfter    = time.Hour           // for a source to reach this host after its start
)

// since is the time since a moment in Unix milliseconds.
func since(at int64) time.Duration { return time.Since(time.UnixMilli(at)) }

// tidy ends what nobody continues. What a target has confirmed is kept until its source says
// how the move ended, or has been silent for too long.
func (m *Moves) tidy(ctx context.Context) {
	for _, one := range m.all() {
		r := m.of(one)
		var err error
		switch {
		case r.outlived():
			err = errors.Join(m.drop(one), m.target.admission.release(ctx, r))
		case r.Incoming:
			err = m.target.tidy(one, r)
		default:
			err = m.source.tidy(ctx, one, r)
		}
		if err != nil {
			m.logger.Warn("ending an old move", "move", r.ID, "error", err)
		}
	}
	m.copies.dropOld(m.logger)
}

// outlived reports whether a move ended so long ago that its record is of no more use. One that
// a target gave up is kept: its source may still come back.
func (r record) outlived() bool {
	switch r.State {
	case api.MoveCanceled:
		return !r.GaveUp && since(r.EndedAt) > listedFor
	case api.MoveDone:
		return r.Incoming && since(r.EndedAt) > toldWithin
	}
	return false
}
