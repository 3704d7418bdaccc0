package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// Manager knows the sessions of a host and opens each on first use. It consists of parts, each
// with its own subject and the lock of its own state: the registry lists the sessions, the pool
// opens them, and the others use these two.
type Manager struct {
	*registry
	*pool
	*announcer
	*spending
	*finder
	*searches
	*creator
	*forks
	*importer
	*families

	// Static after NewManager.
	Holder   *Holder   // for a host that is to be replaced
	Handover *Handover // of sessions between hosts
}

// NewManager finds the sessions of the provider and opens those with pending work: queued
// prompts, or a turn that was interrupted by a crash. It reads the sessions that the index does
// not know in their current state. ctx limits this reading, not the sessions. Close also closes
// the index and the provider.
func NewManager(ctx context.Context, provider store.Provider, deps Deps) (*Manager, error) {
	deps.IdleAfter = cmp.Or(deps.IdleAfter, DefaultIdleAfter)
	m := newManager(ctx, provider, deps)
	if err := m.discover(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sessions: %w", err), m.Close())
	}
	return m, nil
}

// newManager joins the parts of a manager that knows no sessions yet.
func newManager(ctx context.Context, provider store.Provider, deps Deps) *Manager {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	list := newRegistry()
	holder := &Holder{sessions: list, ctx: running, logger: deps.Logger}
	pool := &pool{registry: list, provider: provider, deps: deps, holder: holder, ctx: running, cancel: cancel}
	spending := &spending{sessions: list, budgets: deps.Budgets, logger: deps.Logger}
	announcer := &announcer{sessions: list, spending: spending, index: deps.Index, onSummary: deps.OnSummary, onDelete: deps.OnDelete}
	finder := &finder{pool: pool, announcer: announcer}
	m := &Manager{
		registry: list, pool: pool, announcer: announcer, spending: spending, finder: finder,
		searches: &searches{sessions: list, index: deps.Index},
		creator:  &creator{pool: pool, announcer: announcer},
		forks:    &forks{pool: pool, finder: finder},
		importer: &importer{pool: pool, announcer: announcer, finder: finder},
		families: &families{pool: pool, announcer: announcer},
		Holder:   holder,
		Handover: &Handover{sessions: pool, announcer: announcer, finder: finder},
	}
	pool.others = m
	return m
}

// Close cancels running turns, waits for them, and closes all sessions, the index
// and the provider.
func (m *Manager) Close() error {
	m.pool.close()
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
