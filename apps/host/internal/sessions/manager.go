package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Manager finds the sessions of a host and opens each when it is first asked for.
type Manager struct {
	// Static after NewManager.
	provider store.Provider
	deps     Deps
	ctx      context.Context // ends the open sessions
	cancel   context.CancelFunc
	wg       sync.WaitGroup // one for each session that was opened

	forking sync.Mutex // held while a fork is made
	// telling is held from when a summary is made until it was told, so that an older one
	// is not told after it. It is taken before mu.
	telling   sync.Mutex
	onSummary func(api.SessionSummary) // that of the host

	mu     sync.Mutex
	known  map[string]*known
	byKey  map[string]string // clientKey of create_session -> session id
	closed bool
	// offspring are the ids of the sessions that belong to one.
	offspring map[string][]string
}

// known is a session that was found.
type known struct {
	header  session.Header
	project api.Project
	summary api.SessionSummary
	open    *Session // nil until it is asked for
}

// NewManager finds the sessions of the provider, and opens those whose work waits:
// queued prompts, or a turn that a crash cut off. It reads those that the index does
// not know as they are. ctx ends the reading, not the sessions. Close closes the
// index and the provider too.
func NewManager(ctx context.Context, provider store.Provider, deps Deps) (*Manager, error) {
	m := &Manager{provider: provider, deps: deps, known: map[string]*known{}, byKey: map[string]string{}, offspring: map[string][]string{}}
	m.deps.IdleAfter = cmp.Or(deps.IdleAfter, DefaultIdleAfter)
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.onSummary, m.deps.OnSummary, m.deps.account = deps.OnSummary, m.tell, m.account
	m.deps.reconsider = m.reconsider
	if err := m.discover(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sessions: %w", err), m.Close())
	}
	return m, nil
}

// Create makes a session in a project. The same clientKey gives the same session.
func (m *Manager) Create(ctx context.Context, project api.Project, clientID, clientKey, model string) (api.SessionSummary, error) {
	if clientKey == "" || len(clientKey) > api.MaxClientKey {
		return api.SessionSummary{}, api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	}
	if model == "" {
		model = m.deps.Models.Default()
	}
	if _, _, err := m.deps.Models.Model(model); err != nil {
		return api.SessionSummary{}, err
	}
	s, isNew, err := m.create(ctx, project, session.Header{ClientKey: clientKey})
	if err != nil {
		return api.SessionSummary{}, err
	}
	if isNew {
		if err := s.SetModel(ctx, clientID, model); err != nil {
			return api.SessionSummary{}, err
		}
		if err := s.SetMode(ctx, clientID, cmp.Or(m.deps.Mode, api.ModeAsk)); err != nil {
			return api.SessionSummary{}, err
		}
	}
	return s.Summary(ctx)
}

// create makes a session with what the header says beside its id, time and project.
func (m *Manager) create(ctx context.Context, project api.Project, header session.Header) (s *Session, isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id, ok := m.byKey[header.ClientKey]; ok {
		s, err = m.openLocked(id)
		return s, false, err
	}
	if m.closed {
		return nil, false, refuse(ErrClosed)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, false, fmt.Errorf("sessions: making an id: %w", err)
	}
	header.Type, header.Version, header.ID = session.TypeSession, session.Version, id.String()
	header.Timestamp, header.Cwd, header.ProjectID = session.FormatTime(time.Now()), project.Path, project.ID
	line, err := session.EncodeHeader(header)
	if err != nil {
		return nil, false, err
	}
	log, err := m.provider.Create(ctx, project.ID, line)
	if err != nil {
		return nil, false, refuse(err)
	}
	k := &known{
		header: header, project: project,
		summary: summarize(&index.Digest{}, project.ID, header, "", m.deps.Models),
	}
	m.know(k)
	return m.startLocked(k, log), true, nil
}

// Open returns the session with the given id. Its log is read when the first
// command comes, in the session's own goroutine. The error is an *api.Error.
func (m *Manager) Open(id string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.openLocked(id)
}

func (m *Manager) openLocked(id string) (*Session, error) {
	k, ok := m.known[id]
	switch {
	case !ok:
		return nil, api.Errorf(api.KindNotFound, "no session %s on this host: list the sessions to see their ids", clip(id))
	case m.closed:
		return nil, refuse(ErrClosed)
	case k.open != nil:
		return k.open, nil
	}
	return m.startLocked(k, nil), nil
}

// startLocked starts the session's goroutine; log is nil where it is not open yet.
func (m *Manager) startLocked(k *known, log store.Log) *Session {
	s := newSession(k, m.provider, m.deps)
	if parent := k.header.ChildOf; parent != "" {
		s.parentMode = func() (api.Mode, bool) { return m.modeOf(parent) }
	}
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
