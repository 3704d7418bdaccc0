package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Manager knows the sessions of a host and opens each on first use.
type Manager struct {
	// Static after NewManager.
	provider store.Provider
	deps     Deps
	ctx      context.Context // ends the open sessions
	cancel   context.CancelFunc
	wg       sync.WaitGroup // one for each session that was opened

	creating   sync.Mutex // held while a session is stored for the first time
	forking    sync.Mutex // held while a fork is created
	refreshing sync.Mutex // held while Refresh runs
	importing  sync.Mutex // held while a transcript of another program becomes a session
	holdOne    sync.Mutex // held while HoldAll, KeepHeld or ReleaseAll runs
	// announcing is held from the creation of a summary until it was announced, so that
	// summaries are announced in order. It is locked before mu.
	announcing sync.Mutex

	*registry

	// Guarded by mu of the registry.
	closed bool
	held   bool // sessions that are opened begin nothing new
	kept   bool // held until the end
}

// NewManager finds the sessions of the provider and opens those with pending work: queued
// prompts, or a turn that was interrupted by a crash. It reads the sessions that the index does
// not know in their current state. ctx limits this reading, not the sessions. Close also closes
// the index and the provider.
func NewManager(ctx context.Context, provider store.Provider, deps Deps) (*Manager, error) {
	m := &Manager{provider: provider, deps: deps, registry: newRegistry()}
	m.deps.IdleAfter = cmp.Or(deps.IdleAfter, DefaultIdleAfter)
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := m.discover(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sessions: %w", err), m.Close())
	}
	return m, nil
}

// made returns the session that a request with the key has created, or nil.
func (m *Manager) made(clientKey string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.madeLocked(clientKey)
}

func (m *Manager) madeLocked(clientKey string) (*Session, error) {
	if id, ok := m.byKey[clientKey]; ok {
		return m.openLocked(id)
	}
	if m.closed {
		return nil, clientError(ErrClosed)
	}
	return nil, nil
}

// Open returns the session with the given id. The session's goroutine reads the log when the
// first command arrives. The error is an *api.Error.
func (m *Manager) Open(id string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.openLocked(id)
}

func (m *Manager) openLocked(id string) (*Session, error) {
	k, ok := m.known[id]
	switch {
	case !ok:
		return nil, m.unknownLocked(id)
	case m.closed:
		return nil, clientError(ErrClosed)
	case k.open != nil:
		return k.open, nil
	}
	return m.startLocked(k, nil), nil
}

// Unknown returns the error for an id that belongs to no known session. It says that the session
// is unavailable while it may be one that could not be listed or read.
func (g *registry) Unknown(id string) *api.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unknownLocked(id)
}

func (g *registry) unknownLocked(id string) *api.Error {
	if g.missing || g.unread[id] {
		return api.Errorf(api.KindUnavailable, "the session %.64q cannot be found now, because not all sessions of this host can be read: try again when they can", id)
	}
	return state.UnknownSession(id)
}

// ProjectOf returns the project of a session; false if there is no such session.
func (g *registry) ProjectOf(id string) (projectID string, exists bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k, ok := g.known[id]; ok {
		return k.project.ID, true
	}
	return "", false
}

// startLocked starts the session's goroutine. log is nil if the session is not open yet.
func (m *Manager) startLocked(k *known, log store.Log) *Session {
	s := newSession(k, m.provider, m.deps, m)
	s.held.on = m.held && s.parent == ""
	k.open = s
	m.wg.Go(func() { s.run(m.ctx, log) })
	return s
}

// Close cancels running turns, waits for them, and closes all sessions, the index
// and the provider.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.creating.Lock() // waits for a session that is being stored
	defer m.creating.Unlock()
	m.wg.Wait()
	var err error
	if m.deps.Index != nil {
		err = m.deps.Index.Close()
	}
	return errors.Join(err, m.provider.Close())
}

func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}
