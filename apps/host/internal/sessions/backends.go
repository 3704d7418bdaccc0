package sessions

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Backends are other programs that work on the turns of sessions.
type Backends interface {
	// Check returns why a backend cannot be used, as an *api.Error, or nil.
	Check(name string) error
	// Runner returns what works on the turns of a session.
	Runner(sessionID, name string, keeper agent.Keeper) (agent.Runner, error)
	// Forget ends what runs for a session.
	Forget(sessionID string)
}

// ownBackend returns the name of a backend as sessions keep it: "" is the host's own agent.
func ownBackend(name string) string {
	if name == api.OwnBackend {
		return ""
	}
	return name
}

// checkBackend refuses a backend that cannot be used.
func (d Deps) checkBackend(name string) error {
	name = ownBackend(name)
	switch {
	case name == "":
		return nil
	case d.Backends == nil:
		return api.Errorf(api.KindNotFound, "there is no backend %.64q on this host", name)
	}
	return d.Backends.Check(name)
}

// SetBackend chooses the program that works on the next turns.
func (e *settings) SetBackend(ctx context.Context, clientID, name string) error {
	if err := e.deps.checkBackend(name); err != nil {
		return err
	}
	name = ownBackend(name)
	return e.change(ctx, func() error {
		if e.digest.Backend == name {
			return nil
		}
		err := e.appendCustom(session.CustomBackend, session.BackendRecord{Kind: session.BackendChosen, Backend: name}, clientID)
		e.updateSummary()
		return err
	})
}

// prepareForeign makes the turn of another program.
func (r *runner) prepareForeign(hooked *turnHooks) (agent.Turn, agent.Runner, error) {
	name := r.summary.Backend
	if err := r.deps.checkBackend(name); err != nil {
		return agent.Turn{}, nil, err
	}
	j := journal{r, r.turns.running.id, api.Model{Provider: name}, hooked}
	work, err := r.deps.Backends.Runner(r.id, name, keeper{j, name})
	if err != nil {
		return agent.Turn{}, nil, err
	}
	return agent.Turn{
		Journal: j, Gate: gate{r.approvals, hooked}, People: people{r.questions}, Sink: sink{r.core}, Tell: j.Tell, After: hooked.after,
		Afford:   func() error { return r.others.afford(r.id) },
		Messages: read.Context(r.log.Tree()).Messages, Cwd: r.project.Path, Provider: name,
	}, work, nil
}

// inOrder returns messages as the own agent needs them after another program has worked.
func inOrder(messages []session.Message) []session.Message {
	foreign := func(m session.Message) bool { return m.API == read.ForeignAPI }
	if !slices.ContainsFunc(messages, foreign) {
		return messages
	}
	return agent.ResultsInOrder(messages)
}

// forgetBackend ends the program that runs for the session.
func (s *Session) forgetBackend() {
	if s.deps.Backends != nil {
		s.deps.Backends.Forget(s.id)
	}
}

// keeper is how another program reads and writes what only it understands. It implements
// agent.Keeper.
type keeper struct {
	journal
	backend string
}

// Kept implements agent.Keeper.
func (k keeper) Kept(ctx context.Context) (agent.Kept, error) {
	return inside(ctx, &k.owner, func() (agent.Kept, error) { return read.Backend(k.log.Tree(), k.backend, k.turnID), nil })
}

// Keep implements agent.Keeper.
func (k keeper) Keep(ctx context.Context, record session.BackendRecord) error {
	record.Backend, record.TurnID = k.backend, k.turnID
	return k.change(ctx, func() error { return k.appendCustom(session.CustomBackend, record, "") })
}

// Title implements agent.Keeper.
func (k keeper) Title(ctx context.Context, title string) error {
	return k.change(ctx, func() error {
		if title = oneLine(title); title == "" || k.digest.Named || len(title) > api.MaxName {
			return nil
		}
		_, err := k.append(store.Mark{}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return k.log.AppendSessionInfo(ctx, mark, title)
		})
		k.updateSummary()
		return err
	})
}
