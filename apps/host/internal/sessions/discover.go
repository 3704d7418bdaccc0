package sessions

import (
	"context"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
)

// discover finds all sessions. Of one that has not changed since it was indexed the
// index tells enough; any other is read, and the index is told to do so too.
func (m *Manager) discover(ctx context.Context) error {
	list, err := m.provider.List(ctx)
	if err != nil {
		return err
	}
	indexed := m.indexed(ctx)
	for _, info := range list {
		id := info.Header.ID
		row, ok := indexed[id]
		delete(indexed, id)
		if !ok || row.Stale(info) {
			if row, err = m.read(ctx, info); err != nil {
				m.deps.Logger.Error("a session cannot be listed; it is left as it is", "session", clip(id), "error", err)
				continue
			}
		}
		if err := m.add(row); err != nil {
			return err
		}
	}
	for id := range indexed { // they were deleted while no host ran
		m.deps.Index.Remove(id)
	}
	return nil
}

// indexed returns what the index knows, by session id. An index that does not
// answer knows nothing: it says so in the log and is built anew.
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

// read reads a session without changing it.
func (m *Manager) read(ctx context.Context, info store.Info) (index.Session, error) {
	m.touch(info.Header.ID, info.ProjectID)
	file, err := m.provider.Read(ctx, info.Header.ID)
	if err != nil {
		return index.Session{}, err
	}
	return index.Session{
		Header: file.Header, ProjectID: info.ProjectID, Digest: index.DigestOf(file.Header, file.Tree.Entries()), Damage: store.Trouble(file),
	}, nil
}

// take reads a session that was just made and makes it known.
func (m *Manager) take(ctx context.Context, info store.Info) error {
	row, err := m.read(ctx, info)
	if err != nil {
		return err
	}
	return m.add(row)
}

// touch tells the index that a session is new or has changed.
func (m *Manager) touch(id, projectID string) {
	if m.deps.Index != nil {
		m.deps.Index.Touch(id, projectID)
	}
}

// projectOf is the project of a session, as the host knows it: the folder that a session's
// file names is what somebody else may have written. It counts where the host knows none.
func (m *Manager) projectOf(id, cwd string) api.Project {
	if m.deps.Project != nil {
		if project, ok := m.deps.Project(id); ok {
			return project
		}
	}
	return api.Project{ID: id, Name: filepath.Base(cwd), Path: cwd}
}

// add makes a session known, and opens it where work waits in it.
func (m *Manager) add(row index.Session) error {
	header := row.Header
	project := m.projectOf(row.ProjectID, header.Cwd)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.know(&known{
		header: header, project: project, summary: summarize(&row.Digest, project.ID, header, row.Damage, m.deps.Models),
	})
	if !row.Waits() {
		return nil
	}
	_, err := m.openLocked(header.ID)
	return err
}

const (
	// fewBehind is how many sessions a search waits for: those that people and agents
	// are writing in, and not an index that is being built.
	fewBehind = 16
	// waitBehind bounds that waiting.
	waitBehind = 5 * time.Second
)

// Search finds entries by their text. What was said before is found.
func (m *Manager) Search(ctx context.Context, request api.SearchSessionsRequest) (api.SearchSessionsResponse, error) {
	if m.deps.Index == nil {
		return api.SearchSessionsResponse{}, api.Errorf(api.KindUnavailable, "the sessions cannot be searched: the index could not be opened, and the host's log says why")
	}
	behind := m.deps.Index.Behind()
	if behind > 0 && behind <= fewBehind {
		wait, cancel := context.WithTimeout(ctx, waitBehind)
		defer cancel()
		_ = m.deps.Index.Settle(wait) // then it answers from what is there
		behind = m.deps.Index.Behind()
	}
	hits, err := m.deps.Index.Search(ctx, index.Query{
		Text: request.Query, ProjectID: request.ProjectID, Role: request.Role, Limit: request.Limit,
	})
	if err != nil {
		return api.SearchSessionsResponse{}, err
	}
	response := api.SearchSessionsResponse{Hits: make([]api.SearchHit, 0, len(hits)), Behind: behind}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range hits {
		k, ok := m.known[h.SessionID]
		if !ok { // it was deleted meanwhile
			continue
		}
		response.Hits = append(response.Hits, api.SearchHit{
			SessionID: h.SessionID, ProjectID: k.project.ID, Name: k.summary.Name,
			EntryID: h.EntryID, Seq: h.Seq, Role: h.Role, At: h.At, Snippet: h.Snippet,
		})
	}
	return response, nil
}
