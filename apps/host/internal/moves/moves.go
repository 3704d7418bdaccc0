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
// Each record is one file, replaced atomically and synced.
package moves

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
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
	Options
	sessions *sessions.Manager // set by Attach
	began    time.Time

	// admitting is held while it is decided whether a move is expected, and while its source
	// becomes or stops being a client.
	admitting sync.Mutex

	mu      sync.Mutex
	moves   map[string]*move
	ctx     context.Context // of Run; nil before and after it
	running sync.WaitGroup  // one for each move that is driven
}

// move is a record with what is only in memory. Its record is replaced as a whole.
type move struct {
	record  record // guarded by Moves.mu; replaced only while changing is held
	driven  bool   // guarded by Moves.mu
	sent    int64  // guarded by Moves.mu
	trouble string // why it waits; guarded by Moves.mu
	wake    chan struct{}
	files   sync.Mutex // held while its files are written or read
	// changing is held while a changed record is stored, which can take long. It is taken after
	// files and before Moves.mu.
	changing sync.Mutex
}

// Load reads the records of moves. A move that was prepared and not started has ended with the
// host before.
func Load(o Options) (*Moves, error) {
	m := &Moves{Options: o, began: time.Now(), moves: map[string]*move{}}
	entries, err := os.ReadDir(o.Paths.Moves())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("moves: reading the records: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() || store.CheckName(entry.Name()) != nil {
			continue
		}
		r, err := readRecord(m.folder(entry.Name()))
		switch {
		case errors.Is(err, os.ErrNotExist): // it ended before it had a record
			if err := os.RemoveAll(m.folder(entry.Name())); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		}
		if !r.Incoming && r.State == api.MovePrepared {
			r.State, r.Error = api.MoveCanceled, "the host was restarted before the move was started"
		}
		m.moves[r.ID] = &move{record: r, wake: make(chan struct{}, 1)}
	}
	return m, nil
}

// Attach sets the sessions, which need to know the moves first.
func (m *Moves) Attach(manager *sessions.Manager) { m.sessions = manager }

func (m *Moves) folder(id string) string { return filepath.Join(m.Paths.Moves(), id) }

// tidyEvery is the interval between two looks for moves that nobody continued.
const tidyEvery = time.Minute

// Run continues the moves of the host until ctx ends.
func (m *Moves) Run(ctx context.Context) {
	m.mu.Lock()
	m.ctx = ctx
	for _, one := range m.moves {
		m.driveLocked(one)
	}
	m.mu.Unlock()
	m.releaseForgotten(ctx)
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		m.tidy(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	m.ctx = nil
	m.mu.Unlock()
	m.running.Wait()
}

// driveLocked starts the goroutine of a move that has something to do. m.mu is held.
func (m *Moves) driveLocked(one *move) {
	if m.ctx == nil || one.driven || !one.record.active() {
		return
	}
	one.driven = true
	ctx := m.ctx
	m.running.Go(func() { m.drive(ctx, one) })
}

// within runs do in a goroutine that Run waits for; not at all before and after Run.
func (m *Moves) within(do func(context.Context)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx := m.ctx; ctx != nil {
		m.running.Go(func() { do(ctx) })
	}
}

// Pauses between attempts to reach the other host.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// waitLogEvery is how often it is logged that a move waits.
const waitLogEvery = 5 * time.Minute

// drive does what a move needs until it has ended.
func (m *Moves) drive(ctx context.Context, one *move) {
	pause := firstPause
	var logged time.Time
	for ctx.Err() == nil {
		r := m.recordOf(one)
		if !r.active() {
			break
		}
		err := m.step(ctx, one, r)
		if err == nil {
			pause = firstPause
			continue
		}
		if ctx.Err() != nil {
			break
		}
		m.setTrouble(one, err)
		if time.Since(logged) >= waitLogEvery { // the other host may be away for months
			logged = time.Now()
			m.Logger.Warn("a move of a session waits", "move", r.ID, "session", r.SessionID, "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-one.wake:
		case <-ctx.Done():
		}
		timer.Stop()
		pause = min(2*pause, maxPause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	one.driven = false
	if ctx.Err() == nil {
		m.driveLocked(one) // it may have changed since
	}
}

// step does the next step of a move. An error is tried again.
func (m *Moves) step(ctx context.Context, one *move, r record) error {
	switch {
	case r.Incoming:
		return m.install(ctx, one)
	case r.State == api.MoveSending:
		return m.send(ctx, one, r)
	case r.State == api.MoveCommitted:
		return m.settle(ctx, one, r)
	case r.State == api.MoveCanceling:
		return m.tellCanceled(ctx, one, r)
	}
	return m.clean(ctx, one)
}

func (m *Moves) recordOf(one *move) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return one.record
}

// setTrouble notes why a move waits.
func (m *Moves) setTrouble(one *move, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one.trouble = err.Error()
}

// change stores a changed record. edit gets a copy; its error stores nothing.
func (m *Moves) change(one *move, edit func(*record) error) error {
	one.changing.Lock()
	defer one.changing.Unlock()
	r := m.recordOf(one)
	if err := edit(&r); err != nil {
		return err
	}
	if err := writeRecord(m.folder(r.ID), r); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	one.record, one.trouble = r, ""
	m.driveLocked(one)
	return nil
}

// reached tells a test that a step is on disk.
func (m *Moves) reached(name string) {
	if m.Step != nil {
		m.Step(name)
	}
}

// add registers a new move, whose folder exists.
func (m *Moves) add(r record) (*move, error) {
	if err := writeRecord(m.folder(r.ID), r); err != nil {
		return nil, err
	}
	one := &move{record: r, wake: make(chan struct{}, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moves[r.ID] = one
	return one, nil
}

// find returns a move that the asking connection may know of. Others are unknown.
func (m *Moves) find(id string, may func(record) bool) (*move, record, error) {
	m.mu.Lock()
	one, known := m.moves[id]
	m.mu.Unlock()
	if known {
		if r := m.recordOf(one); may(r) {
			return one, r, nil
		}
	}
	return nil, record{}, unknownMove(id)
}

func unknownMove(id string) error {
	return api.Errorf(api.KindNotFound, "no move %.64q on this host", id)
}

// drop forgets a move with all of its files.
func (m *Moves) drop(one *move) error {
	one.files.Lock()
	defer one.files.Unlock()
	one.changing.Lock()
	defer one.changing.Unlock()
	id := m.recordOf(one).ID
	if err := removeFolder(m.folder(id)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.moves, id)
	return nil
}

// all returns the moves, newest first.
func (m *Moves) all() []*move {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := slices.Collect(maps.Values(m.moves))
	slices.SortFunc(list, func(a, b *move) int { return int(b.record.CreatedAt - a.record.CreatedAt) })
	return list
}

// How long moves are kept that nobody continues.
const (
	startWithin   = 10 * time.Minute    // from prepare_move to start_move
	receiveWithin = 24 * time.Hour      // until everything has arrived
	sendWithin    = 24 * time.Hour      // until everything was sent
	listedFor     = 7 * 24 * time.Hour  // after the end
	toldWithin    = 90 * 24 * time.Hour // for the other host to learn how a move ended
	heardAfter    = time.Hour           // for a source to reach this host after its start
	copyKept      = 30 * 24 * time.Hour // of the log of a session that was moved away
)

// tidy ends what nobody continues. What a target has confirmed is kept until its source says
// how the move ended, or has been silent for too long.
func (m *Moves) tidy(ctx context.Context) {
	for _, one := range m.all() {
		r := m.recordOf(one)
		age := time.Since(time.UnixMilli(r.CreatedAt))
		ended := time.Since(time.UnixMilli(r.EndedAt))
		var err error
		switch {
		case r.Incoming && r.State == api.MoveSending && age > receiveWithin:
			err = m.abandon(one, "nothing arrived for too long")
		case !r.Incoming && r.State == api.MovePrepared && age > startWithin, !r.Incoming && r.State == api.MoveSending && age > sendWithin:
			err = m.cancel(ctx, one, "the move took too long")
		case m.silent(r), r.GaveUp && m.holds(r):
			err = m.giveUp(one)
		case r.State == api.MoveCanceled && ended > listedFor && !r.GaveUp, r.Incoming && r.State == api.MoveDone && ended > toldWithin:
			err = errors.Join(m.drop(one), m.release(ctx, r))
		}
		if err != nil {
			m.Logger.Warn("ending an old move", "move", r.ID, "error", err)
		}
	}
	m.dropCopies()
}

// silent reports whether the source of a confirmed move has not been heard for too long. It
// gets some time after a start of this host.
func (m *Moves) silent(r record) bool {
	since := time.UnixMilli(max(r.ConfirmedAt, r.CreatedAt))
	return r.Incoming && r.State == api.MovePrepared && time.Since(since) > toldWithin && time.Since(m.began) > heardAfter
}

// holds reports whether something that arrived is still in the folder of a move.
func (m *Moves) holds(r record) bool {
	entries, err := os.ReadDir(m.folder(r.ID))
	return err == nil && len(entries) > 1 // one is the record
}

// dropCopies deletes logs of sessions that were moved away long ago.
func (m *Moves) dropCopies() {
	entries, _ := os.ReadDir(m.Paths.Moved()) // none, or it is tried again
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > copyKept {
			if err := os.Remove(filepath.Join(m.Paths.Moved(), entry.Name())); err != nil {
				m.Logger.Warn("deleting the copy of a moved session", "error", err)
			}
		}
	}
}
