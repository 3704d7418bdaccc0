package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
)

// finder finds the sessions that providers have.
type finder struct {
	*pool
	announcer *announcer

	refreshing sync.Mutex // held while Refresh runs
}

// discover finds all sessions. For a session that has not changed since it was indexed, it uses
// the index; it reads all others and marks them for indexing. If the provider could not list
// all sessions, the index supplies the rest.
func (f *finder) discover(ctx context.Context) error {
	indexed := f.indexed(ctx) // before the list, so that a session created in between is only in the list
	list, err := f.provider.List(ctx)
	if err != nil {
		return err
	}
	unread := map[string]bool{}
	for _, info := range list {
		id := info.Header.ID
		row, ok := indexed[id]
		delete(indexed, id)
		if f.deps.Moves != nil && f.deps.Moves.Gone(id) {
			if ok {
				f.drop(id)
			}
			continue
		}
		if !ok || row.Stale(info) {
			if row, err = f.read(ctx, info); err != nil {
				f.deps.Logger.Error("a session cannot be listed; it was not changed", "session", clip(id), "error", err)
				unread[id] = true
				continue
			}
		}
		if err := f.add(row); err != nil {
			return err
		}
	}
	partial, ok := f.provider.(store.Incomplete)
	missing := ok && partial.Missing()
	for id, row := range indexed {
		if missing {
			f.addClosed(row)
		} else { // it was deleted without this host
			f.drop(id)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing, f.unread = missing, unread
	return nil
}

// Refresh finds the sessions of a provider that is available again, and continues the work that
// waits in them.
func (f *finder) Refresh(ctx context.Context) error {
	f.refreshing.Lock()
	defer f.refreshing.Unlock()
	before := f.closedSessions()
	if err := f.discover(ctx); err != nil {
		return fmt.Errorf("sessions: refreshing the list: %w", err)
	}
	for id, k := range f.closedSessions() {
		if before[id] != k {
			f.announcer.announceNew(id)
		}
	}
	f.notify(func(*known) bool { return true }, func(s *Session) {
		if !s.unreachable {
			return
		}
		if err := s.openLog(f.ctx); err != nil {
			s.deps.Logger.Error("reopening a session", "session", s.id, "error", err)
		}
	})
	return nil
}

// drop forgets a session that was deleted, unless it is open: an open session notices by
// itself.
func (f *finder) drop(id string) {
	f.mu.Lock()
	_, registered := f.known[id]
	f.mu.Unlock()
	if !registered {
		f.deps.Index.Remove(id)
		return
	}
	f.announcer.unregisterIf(id, func(k *known) bool { return k != nil && k.open == nil }) // it may be opened meanwhile
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
func (f *finder) indexed(ctx context.Context) map[string]index.Session {
	if f.deps.Index == nil {
		return nil
	}
	rows, err := f.deps.Index.List(ctx, index.Page{})
	if err != nil {
		f.deps.Logger.Error("reading the session index; all sessions are read instead", "error", err)
	}
	known := make(map[string]index.Session, len(rows))
	for _, row := range rows {
		known[row.Header.ID] = row
	}
	return known
}

// read reads a session without opening it for writing.
func (f *finder) read(ctx context.Context, info store.Info) (index.Session, error) {
	f.deps.markChanged(info.Header.ID, info.ProjectID)
	file, err := f.provider.Read(ctx, info.Header.ID)
	if err != nil {
		return index.Session{}, err
	}
	return index.Session{
		Header: file.Header, ProjectID: info.ProjectID, Digest: index.DigestOf(file.Header, file.Tree.Entries()), Damage: store.Trouble(file),
	}, nil
}

// take reads a session that was just created and registers it. It exists, so this does not end
// with the request that created it: a session that no list shows would be created again.
func (f *finder) take(ctx context.Context, info store.Info) error {
	row, err := f.read(context.WithoutCancel(ctx), info)
	if err != nil {
		return err
	}
	return f.add(row)
}

// projectOf returns the project of a session as the host knows it. The folder that the session
// file names may come from another program, so it is used only if the host knows none.
func (f *finder) projectOf(id, cwd string) api.Project {
	if f.deps.Project != nil {
		if project, ok := f.deps.Project(id); ok {
			return project
		}
	}
	return api.Project{ID: id, Name: filepath.Base(cwd), Path: cwd}
}

// add registers a session, and opens it if work waits in it. A session that is open already is
// up to date and stays as it is.
func (f *finder) add(row index.Session) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.addLocked(row) || !row.Waits() {
		return nil
	}
	_, err := f.openLocked(row.Header.ID)
	return err
}

// addClosed registers a session whose provider is unavailable.
func (f *finder) addClosed(row index.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addLocked(row)
}

// addLocked registers a session. It returns true if the session is open already. The mu of the
// registry is held.
func (f *finder) addLocked(row index.Session) (open bool) {
	header := row.Header
	project := f.projectOf(row.ProjectID, header.Cwd)
	k := &known{
		header: header, project: project, summary: summarize(&row.Digest, project.ID, header, row.Damage, f.deps.Models),
	}
	k.summary.Worktree = f.deps.worktree(header.ID)
	switch before := f.known[header.ID]; {
	case before != nil && before.open != nil:
		return true
	case before != nil && reflect.DeepEqual(before.summary, k.summary):
		return false // nothing changed
	}
	f.register(k)
	return false
}
