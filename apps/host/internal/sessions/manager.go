package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Manager finds the sessions of a host and opens each when it is first asked for.
type Manager struct {
	// Static after NewManager.
	dir    string // holds one folder per project
	deps   Deps
	ctx    context.Context // ends the open sessions
	cancel context.CancelFunc
	wg     sync.WaitGroup // one for each open session

	mu     sync.Mutex
	known  map[string]*known
	byKey  map[string]string // clientKey of create_session -> session id
	closed bool
}

// known is a session that was found on disk.
type known struct {
	path    string
	project api.Project
	summary api.SessionSummary
	open    *Session // nil until it is asked for
}

// NewManager reads the headers and counts of all sessions below dir, and opens
// those whose work waits: queued prompts, or a turn that a crash cut off.
func NewManager(dir string, deps Deps) (*Manager, error) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{dir: dir, deps: deps, ctx: ctx, cancel: cancel, known: map[string]*known{}, byKey: map[string]string{}}
	onSummary := deps.OnSummary
	m.deps.OnSummary = func(summary api.SessionSummary) {
		m.mu.Lock()
		if k := m.known[summary.ID]; k != nil {
			k.summary = summary
		}
		m.mu.Unlock()
		onSummary(summary)
	}
	if err := m.scan(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Manager) scan() error {
	paths, err := filepath.Glob(filepath.Join(m.dir, "*", "*.jsonl"))
	if err != nil {
		return fmt.Errorf("sessions: listing %s: %w", m.dir, err)
	}
	for _, path := range paths {
		if err := m.discover(path); err != nil {
			m.deps.Logger.Error("a session file cannot be listed; it is left as it is", "file", filepath.Base(path), "error", err)
		}
	}
	return nil
}

// discover reads one file without changing it.
func (m *Manager) discover(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parsed, err := parse(data)
	if err != nil {
		return err
	}
	log := &Log{header: parsed.header, tree: session.NewTree(parsed.entries), damage: parsed.damage}
	keys := map[string]string{}
	for _, entry := range parsed.entries {
		log.digest.add(entry)
		if message, ok := entry.AsMessage(); ok {
			keys[message.ClientKey] = entry.ID
		}
	}
	project := api.Project{ID: filepath.Base(filepath.Dir(path)), Name: filepath.Base(parsed.header.Cwd), Path: parsed.header.Cwd}
	k := &known{path: path, project: project, summary: summarize(project.ID, log, m.deps.Models)}
	m.mu.Lock()
	m.known[parsed.header.ID] = k
	if parsed.header.ClientKey != "" {
		m.byKey[parsed.header.ClientKey] = parsed.header.ID
	}
	m.mu.Unlock()
	if interrupted(log.tree) || len(waitingPrompts(log.tree, keys)) > 0 {
		_, err = m.Open(parsed.header.ID)
	}
	return err
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
	s, isNew, err := m.create(project, clientKey)
	if err != nil {
		return api.SessionSummary{}, err
	}
	if isNew {
		if err := s.SetModel(ctx, clientID, model); err != nil {
			return api.SessionSummary{}, err
		}
	}
	return s.Summary(ctx)
}

func (m *Manager) create(project api.Project, clientKey string) (s *Session, isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id, ok := m.byKey[clientKey]; ok {
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
	log, err := CreateLog(filepath.Join(m.dir, project.ID), session.Header{
		Type: session.TypeSession, Version: session.Version, ID: id.String(),
		Timestamp: session.FormatTime(time.Now()), Cwd: project.Path, ProjectID: project.ID, ClientKey: clientKey,
	})
	if err != nil {
		return nil, false, refuse(err)
	}
	k := &known{path: log.file.Name(), project: project, summary: summarize(project.ID, log, m.deps.Models)}
	m.known[id.String()], m.byKey[clientKey] = k, id.String()
	return m.startLocked(k, log), true, nil
}

// Open returns the session with the given id. Errors are *api.Error of
// KindNotFound, or those of opening its file.
func (m *Manager) Open(id string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.openLocked(id)
}

func (m *Manager) openLocked(id string) (*Session, error) {
	k, ok := m.known[id]
	switch {
	case !ok:
		return nil, api.Errorf(api.KindNotFound, "no session %s on this host", clip(id))
	case m.closed:
		return nil, refuse(ErrClosed)
	case k.open != nil:
		return k.open, nil
	}
	log, err := OpenLog(k.path, m.deps.Logger)
	if err != nil {
		return nil, refuse(err)
	}
	return m.startLocked(k, log), nil
}

func (m *Manager) startLocked(k *known, log *Log) *Session {
	s := newSession(k.project, log, m.deps)
	k.open = s
	m.wg.Go(func() { s.run(m.ctx) })
	return s
}

// List returns the sessions of a project, or all with "", newest first.
func (m *Manager) List(projectID string) []api.SessionSummary {
	m.mu.Lock()
	list := make([]api.SessionSummary, 0, len(m.known))
	for _, k := range m.known {
		if projectID == "" || k.project.ID == projectID {
			list = append(list, k.summary)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b api.SessionSummary) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return list
}

// Close cancels running turns, waits for them, and closes all files.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.wg.Wait()
	return nil
}

func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}
