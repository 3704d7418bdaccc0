package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// pool opens the sessions of the registry, each with a goroutine of its own, and reaches those
// that are open.
type pool struct {
	*registry
	provider store.Provider
	deps     Deps
	others   others // of each session
	holder   *Holder
	ctx      context.Context // ends the open sessions
	cancel   context.CancelFunc
	wg       sync.WaitGroup // one for each session that was opened
	closed   bool           // guarded by mu of the registry
}

// made returns the session that a request with the key has created, or nil.
func (p *pool) made(clientKey string) (*Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.madeLocked(clientKey)
}

func (p *pool) madeLocked(clientKey string) (*Session, error) {
	if id, ok := p.byKey[clientKey]; ok {
		return p.openLocked(id)
	}
	if p.closed {
		return nil, clientError(ErrClosed)
	}
	return nil, nil
}

// Open returns the session with the given id. The session's goroutine reads the log when the
// first command arrives. The error is an *api.Error.
func (p *pool) Open(id string) (*Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openLocked(id)
}

func (p *pool) openLocked(id string) (*Session, error) {
	k, ok := p.known[id]
	switch {
	case !ok:
		return nil, p.unknownLocked(id)
	case p.closed:
		return nil, clientError(ErrClosed)
	case k.open != nil:
		return k.open, nil
	}
	return p.startLocked(k, nil), nil
}

// startLocked starts the session's goroutine. log is nil if the session is not open yet.
func (p *pool) startLocked(k *known, log store.Log) *Session {
	s := newSession(k, p.provider, p.deps, p.others)
	s.held.on = p.holder.holds() && s.parent == ""
	k.open = s
	p.wg.Go(func() { s.run(p.ctx, log) })
	return s
}

// startNew registers and starts a session that was just stored. log is closed unless the session
// uses it.
func (p *pool) startNew(k *known, log store.Log) (*Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.Join(clientError(ErrClosed), log.Close())
	}
	if found := p.known[k.header.ID]; found != nil && found.open != nil { // Refresh has found it
		return found.open, log.Close()
	}
	p.register(k)
	return p.startLocked(k, log), nil
}

// close ends the sessions, and has none opened any more. It does not wait for them.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.cancel()
}

// Family returns the id of a session and those of the sessions of its subagents, and theirs.
func (p *pool) Family(id string) ([]string, error) {
	if _, known := p.ProjectOf(id); !known {
		_, err := p.Open(id)
		return nil, err
	}
	family := []string{id}
	for i := 0; i < len(family); i++ {
		for _, child := range p.children(family[i]) {
			if !slices.Contains(family, child) {
				family = append(family, child)
			}
		}
	}
	return family, nil
}

// Attend has the sessions that wait for a person check again who watches. It does not wait
// for them.
func (p *pool) Attend() {
	p.notify(func(k *known) bool { return k.summary.WaitingApproval || k.summary.WaitingAnswer }, func(s *Session) { s.updateAttendance() })
}

// notify has the open sessions that are chosen do something, each in its own goroutine. It
// waits for none of them, since a session may call it. A session that closes in the meantime does
// nothing: nothing waits for a person there.
func (p *pool) notify(chosen func(*known) bool, do func(*Session)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	for _, k := range p.known {
		if s := k.open; s != nil && chosen(k) {
			p.wg.Go(func() { _ = s.post(p.ctx, func() { do(s) }) }) // the error is that it closed
		}
	}
}

// Reconsider has the sessions of a project, or all with "", judge the calls that wait again,
// because of a rule that clientID changed. It does not wait for them.
func (p *pool) Reconsider(projectID, clientID string) { p.recheckProject(projectID, clientID) }

// recheckProject implements others.
func (p *pool) recheckProject(projectID, clientID string) {
	p.recheck(func(k *known) bool { return projectID == "" || k.project.ID == projectID }, clientID)
}

// recheckSubagents implements others.
func (p *pool) recheckSubagents(parentID, clientID string) {
	p.recheck(func(k *known) bool { return k.header.ChildOf == parentID }, clientID)
}

func (p *pool) recheck(chosen func(*known) bool, clientID string) {
	p.notify(chosen, func(s *Session) {
		s.approvals.recheck(clientID)
		s.approvals.judge.tighten()
	})
}
