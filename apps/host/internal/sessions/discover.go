package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
)

// discover finds all sessions. For a session that has not changed since it was indexed, it uses
// the index; it reads all others and marks them for indexing. If the provider could not list
// all sessions, the index supplies the rest.
func (m *Manager) discover(ctx context.Context) error {
	indexed := m.indexed(ctx) // before the list, so that a session created in between is only in the list
	list, err := m.provider.List(ctx)
	if err != nil {
		return err
	}
	unread := map[string]bool{}
	for _, info := range list {
		id := info.Header.ID
		row, ok := indexed[id]
		delete(indexed, id)
		if m.deps.Moves != nil && m.deps.Moves.Gone(id) {
			if ok {
				m.drop(id)
			}
			continue
		}
		if !ok || row.Stale(info) {
			if row, err = m.read(ctx, info); err != nil {
				m.deps.Logger.Error("a session cannot be listed; it was not changed", "session", clip(id), "error", err)
				unread[id] = true
				continue
			}
		}
		if err := m.add(row); err != nil {
			return err
		}
	}
	partial, ok := m.provider.(store.Incomplete)
	missing := ok && partial.Missing()
	for id, row := range indexed {
		if missing {
			m.addClosed(row)
		} else { // it was deleted without this host
			m.drop(id)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missing, m.unread = missing, unread
	return nil
}

// Refresh finds the sessions of a provider that is available again, and continues the work that
// waits in them.
func (m *Manager) Refresh(ctx context.Context) error {
	m.refreshing.Lock()
	defer m.refreshing.Unlock()
	before := m.closedSessions()
	if err := m.discover(ctx); err != nil {
		return fmt.Errorf("sessions: refreshing the list: %w", err)
	}
	for id, k := range m.closedSessions() {
		if before[id] != k {
			m.announceNew(id)
		}
	}
	m.notify(func(*known) bool { return true }, func(s *Session) {
		if !s.unreachable {
			return
		}
		if err := s.openLog(m.ctx); err != nil {
			s.deps.Logger.Error("reopening a session", "session", s.id, "error", err)
		}
	})
	return nil
}

// drop forgets a session that was deleted, unless it is open: an open session notices by
// itself.
func (m *Manager) drop(id string) {
	m.mu.Lock()
	_, registered := m.known[id]
	m.mu.Unlock()
	if !registered {
		m.deps.Index.Remove(id)
		return
	}
	m.unregisterIf(id, func(k *known) bool { return k != nil && k.open == nil }) // it may be opened meanwhile
}

// closedSessions returns the sessions that are known but not open.
func (g *registry) closedSessions() map[string]*known {
	g.mu.Lock()
	defer g.mu.Unlock()
	closed := map[string]*known{}
	for id, k := range g.known {
		if k.open == nil {
			closed[id] = k
		}
	}
	return closed
}

// indexed returns the indexed sessions by id. If the index does not answer, the result is
// empty; the index logs the error and rebuilds itself.
func (m *Manager) indexed(ctx context.Context) map[string]index.Session {
	if m.deps.Index == nil {
		return nil
	}
	rows, err := m.deps.Index.List(ctx, index.Page{})
	if err != nil {
		m.deps.Logger.Error("reading the session index; all sessions are read instead", "error", err)
	}
	known := make(map[string]index.Session, len(rows))
	for _, row := range rows {
		known[row.Header.ID] = row
	}
	return known
}

// read reads a session without opening it for writing.
func (m *Manager) read(ctx context.Context, info store.Info) (index.Session, error) {
	m.markChanged(info.Header.ID, info.ProjectID)
	file, err := m.provider.Read(ctx, info.Header.ID)
	if err != nil {
		return index.Session{}, err
	}
	return index.Session{
		Header: file.Header, ProjectID: info.ProjectID, Digest: index.DigestOf(file.Header, file.Tree.Entries()), Damage: store.Trouble(file),
	}, nil
}

// take reads a session that was just created and registers it. It exists, so this does not end
// with the request that created it: a session that no list shows would be created again.
func (m *Manager) take(ctx context.Context, info store.Info) error {
	row, err := m.read(context.WithoutCancel(ctx), info)
	if err != nil {
		return err
	}
	return m.add(row)
}

// markChanged marks a session as new or changed in the index.
func (m *Manager) markChanged(id, projectID string) {
	if m.deps.Index != nil {
		m.deps.Index.Touch(id, projectID)
	}
}

// projectOf returns the project of a session as the host knows it. The folder that the session
// file names may come from another program, so it is used only if the host knows none.
func (m *Manager) projectOf(id, cwd string) api.Project {
	if m.deps.Project != nil {
		if project, ok := m.deps.Project(id); ok {
			return project
		}
	}
	return api.Project{ID: id, Name: filepath.Base(cwd), Path: cwd}
}

// add registers a session, and opens it if work waits in it. A session that is open already is
// up to date and stays as it is.
func (m *Manager) add(row index.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.addLocked(row) || !row.Waits() {
		return nil
	}
	_, err := m.openLocked(row.Header.ID)
	return err
}

// addClosed registers a session whose provider is unavailable.
func (m *Manager) addClosed(row index.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addLocked(row)
}

// addLocked registers a session. It returns true if the session is open already. m.mu is held.
func (m *Manager) addLocked(row index.Session) (open bool) {
	header := row.Header
	project := m.projectOf(row.ProjectID, header.Cwd)
	k := &known{
		header: header, project: project, summary: summarize(&row.Digest, project.ID, header, row.Damage, m.deps.Models),
	}
	k.summary.Worktree = m.deps.worktree(header.ID)
	switch before := m.known[header.ID]; {
	case before != nil && before.open != nil:
		return true
	case before != nil && reflect.DeepEqual(before.summary, k.summary):
		return false // nothing changed
	}
	m.register(k)
	return false
}

const (
	// fewBehind is how many unindexed sessions a search waits for: those in use, as opposed to
	// an index that is being built.
	fewBehind = 16
	// waitBehind bounds that wait.
	waitBehind = 5 * time.Second
)

// Search finds entries by their text, including what was written just before, in the given
// projects, or in all with nil.
func (m *Manager) Search(ctx context.Context, request api.SearchSessionsRequest, projects []string) (api.SearchSessionsResponse, error) {
	if m.deps.Index == nil {
		return api.SearchSessionsResponse{}, api.Errorf(api.KindUnavailable, "sessions cannot be searched because the index could not be opened: see the host's log")
	}
	if projects != nil && len(projects) == 0 {
		return api.SearchSessionsResponse{Hits: []api.SearchHit{}}, nil
	}
	if _, exists := m.ProjectOf(request.SessionID); request.SessionID != "" && !exists {
		return api.SearchSessionsResponse{}, api.Errorf(api.KindNotFound, "there is no session %.64q", request.SessionID)
	}
	behind := m.deps.Index.Behind()
	if behind > 0 && behind <= fewBehind {
		wait, cancel := context.WithTimeout(ctx, waitBehind)
		defer cancel()
		_ = m.deps.Index.Settle(wait) // then search what is indexed
		behind = m.deps.Index.Behind()
	}
	query := index.Query{
		Text: request.Query, ProjectID: request.ProjectID, Projects: projects, Role: request.Role,
		Limit: request.Limit, Skip: request.Skip,
	}
	var (
		hits  []index.Hit
		total int
		more  bool
		err   error
	)
	if request.SessionID == "" {
		hits, more, err = m.deps.Index.Search(ctx, query)
	} else {
		hits, total, err = m.deps.Index.SearchSession(ctx, request.SessionID, query)
	}
	if err != nil {
		return api.SearchSessionsResponse{}, err
	}
	response := api.SearchSessionsResponse{Hits: make([]api.SearchHit, 0, len(hits)), Behind: behind, More: more, Total: total}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range hits {
		k, ok := m.known[h.SessionID]
		if !ok || projects != nil && !slices.Contains(projects, k.project.ID) { // it was deleted or moved in the meantime
			continue
		}
		response.Hits = append(response.Hits, api.SearchHit{
			SessionID: h.SessionID, ProjectID: k.project.ID, Name: k.summary.Name,
			EntryID: h.EntryID, Seq: h.Seq, Role: h.Role, At: h.At, Snippet: h.Snippet,
		})
	}
	return response, nil
}
