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
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Manager knows the sessions of a host and opens each on first use.
type Manager struct {
	// Static after NewManager.
	provider store.Provider
	deps     Deps
	ctx      context.Context // ends the open sessions
	cancel   context.CancelFunc
	wg       sync.WaitGroup // one for each session that was opened

	forking    sync.Mutex // held while a fork is created
	refreshing sync.Mutex // held while Refresh runs
	importing  sync.Mutex // held while a transcript of another program becomes a session
	holdOne    sync.Mutex // held while HoldAll, KeepHeld or ReleaseAll runs
	// announcing is held from the creation of a summary until it was announced, so that
	// summaries are announced in order. It is locked before mu.
	announcing sync.Mutex

	mu     sync.Mutex
	known  map[string]*known
	byKey  map[string]string // clientKey of create_session -> session id
	closed bool
	held   bool // sessions that are opened begin nothing new
	kept   bool // held until the end
	// missing means that a provider could not list its sessions, and unread are the sessions
	// that were listed and could not be read: there may be more than known has.
	missing bool
	unread  map[string]bool
	// offspring lists the ids of a session's subagent sessions.
	offspring map[string][]string
}

// known is a registered session.
type known struct {
	header  session.Header
	project api.Project
	summary api.SessionSummary
	open    *Session // nil until first use
}

// NewManager finds the sessions of the provider and opens those with pending work: queued
// prompts, or a turn that was interrupted by a crash. It reads the sessions that the index does
// not know in their current state. ctx limits this reading, not the sessions. Close also closes
// the index and the provider.
func NewManager(ctx context.Context, provider store.Provider, deps Deps) (*Manager, error) {
	m := &Manager{provider: provider, deps: deps, known: map[string]*known{}, byKey: map[string]string{}, offspring: map[string][]string{}}
	m.deps.IdleAfter = cmp.Or(deps.IdleAfter, DefaultIdleAfter)
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := m.discover(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sessions: %w", err), m.Close())
	}
	return m, nil
}

// Create creates a session in a project. The same clientKey returns the same session.
func (m *Manager) Create(ctx context.Context, project api.Project, clientID string, r api.CreateSessionRequest) (api.SessionSummary, error) {
	clientKey, model := r.ClientKey, r.Model
	if clientKey == "" || len(clientKey) > api.MaxClientKey {
		return api.SessionSummary{}, api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	}
	if r.Agent != "" && ownBackend(r.Backend) != "" {
		return api.SessionSummary{}, foreignPersona(r.Agent)
	}
	if r.Agent != "" {
		persona, err := m.findAgent(project, r.Agent)
		if err != nil {
			return api.SessionSummary{}, err
		}
		model = cmp.Or(model, persona.Model)
	}
	if model == "" {
		model = m.deps.Models.Default()
	}
	if _, _, err := m.deps.Models.Model(model); err != nil {
		return api.SessionSummary{}, err
	}
	if err := m.deps.checkBackend(r.Backend); err != nil {
		return api.SessionSummary{}, err
	}
	place := inProject
	if r.Worktree {
		place = m.inWorktree(project)
	}
	s, isNew, err := m.create(ctx, project, session.Header{ClientKey: clientKey}, place)
	if err != nil {
		return api.SessionSummary{}, err
	}
	if !isNew && s.project.ID != project.ID { // its client may not see that project
		return api.SessionSummary{}, usedKey()
	}
	if isNew {
		if err := s.setAgent(ctx, clientID, r.Agent); err != nil {
			return api.SessionSummary{}, err
		}
		if err := s.SetModel(ctx, clientID, model); err != nil {
			return api.SessionSummary{}, err
		}
		if err := s.SetMode(ctx, clientID, cmp.Or(m.deps.Mode, api.ModeAsk)); err != nil {
			return api.SessionSummary{}, err
		}
		if err := s.SetBackend(ctx, clientID, r.Backend); err != nil {
			return api.SessionSummary{}, err
		}
	}
	return s.Summary(ctx)
}

func usedKey() error {
	return api.Errorf(api.KindConflict, "this clientKey belongs to a request for another project: use a new one")
}

// create creates a session with the given header, and sets its id, time and project.
func (m *Manager) create(ctx context.Context, project api.Project, header session.Header, place placing) (s *Session, isNew bool, err error) {
	if s, err := m.made(header.ClientKey); s != nil || err != nil {
		return s, false, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, false, fmt.Errorf("sessions: creating an id: %w", err)
	}
	ended, err := place(ctx, id.String())
	if err != nil {
		return nil, false, err
	}
	defer func() { ended(isNew) }()
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, err := m.madeLocked(header.ClientKey); s != nil || err != nil { // by the same request, sent twice
		return s, false, err
	}
	header.Type, header.Version, header.ID = session.TypeSession, session.Version, id.String()
	header.Timestamp, header.Cwd, header.ProjectID = session.FormatTime(time.Now()), project.Path, project.ID
	line, err := session.EncodeHeader(header)
	if err != nil {
		return nil, false, err
	}
	log, err := m.provider.Create(ctx, project.ID, line)
	if err != nil {
		return nil, false, clientError(err)
	}
	k := &known{
		header: header, project: project,
		summary: summarize(&index.Digest{}, project.ID, header, "", m.deps.Models),
	}
	k.summary.Worktree = m.deps.worktree(header.ID)
	m.register(k)
	return m.startLocked(k, log), true, nil
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
func (m *Manager) Unknown(id string) *api.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unknownLocked(id)
}

func (m *Manager) unknownLocked(id string) *api.Error {
	if m.missing || m.unread[id] {
		return api.Errorf(api.KindUnavailable, "the session %.64q cannot be found now, because not all sessions of this host can be read: try again when they can", id)
	}
	return state.UnknownSession(id)
}

// ProjectOf returns the project of a session; false if there is no such session.
func (m *Manager) ProjectOf(id string) (projectID string, exists bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.known[id]; ok {
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
