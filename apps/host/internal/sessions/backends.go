package sessions

import (
	"cmp"
	"context"
	"reflect"
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
	// SetOption changes an option of what runs for a session. It changes nothing if the named
	// backend does not run: the log is read when it starts.
	SetOption(ctx context.Context, sessionID, name, option, value string) error
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
		var persona session.AgentRecord
		if read.LastCustom(e.log.Tree(), session.CustomAgent, &persona); persona.Name != "" && name != "" {
			return foreignPersona(persona.Name)
		}
		err := e.appendCustom(session.CustomBackend, session.BackendRecord{Kind: session.BackendChosen, Backend: name}, clientID)
		e.updateSummary()
		return err
	})
}

// foreignPersona is why a session that runs as an agent stays with the host's own loop.
func foreignPersona(name string) error {
	return api.Errorf(api.KindConflict, "a session that runs as the agent %.64s cannot use another program: the instructions and limits of the agent would not bind it", name)
}

// Backend returns what the program of the next turns said last of itself.
func (e *settings) Backend(ctx context.Context) (api.GetBackendResponse, error) {
	return inside(ctx, &e.owner, func() (api.GetBackendResponse, error) {
		name := e.digest.Backend
		if name == "" {
			return api.GetBackendResponse{}, nil
		}
		kept := read.Backend(e.log.Tree(), name, "")
		return api.GetBackendResponse{Backend: name, Options: kept.Options.Options, Commands: kept.Commands.Commands, Decides: kept.Options.Decides}, nil
	})
}

// SetBackendOption changes an option of the program of the next turns, also in a turn that runs.
// allow returns why it may not be changed, given its category and whether the program would then
// act without asking.
func (e *settings) SetBackendOption(ctx context.Context, clientID, option, value string, allow func(category string, decides bool) error) error {
	now, err := e.Backend(ctx)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return clientError(err)
	}
	ctx = context.WithoutCancel(ctx) // the program and the log change together
	record := session.BackendRecord{Kind: session.BackendOptions, Backend: now.Backend, Options: slices.Clone(now.Options)}
	changed, err := withOption(record.Options, option, value)
	if err != nil {
		return err
	}
	record.Decides = agent.Decides(record.Options)
	if err := allow(changed.Category, record.Decides); err != nil {
		return err
	}
	if err := e.deps.checkBackend(now.Backend); err != nil {
		return err
	}
	if err := e.deps.Backends.SetOption(ctx, e.id, now.Backend, option, value); err != nil {
		return err
	}
	return e.change(ctx, func() error { return e.keepBackend(record, clientID) })
}

// withOption sets an option in a list.
func withOption(options []session.BackendOption, id, value string) (session.BackendOption, error) {
	i := slices.IndexFunc(options, func(o session.BackendOption) bool { return o.ID == id })
	if i < 0 {
		return session.BackendOption{}, api.Errorf(api.KindNotFound, "the agent of this session has no option %.64q. It names its options in its first turn", id)
	}
	if !slices.ContainsFunc(options[i].Choices, func(c session.BackendChoice) bool { return c.Value == value }) {
		return session.BackendOption{}, api.Errorf(api.KindBadRequest, "the option %.64q has no value %.64q", id, value)
	}
	options[i].Value = value
	return options[i], nil
}

// keepBackend appends a record, unless the log has these options already: a person and the program
// may both report a change.
func (c *core) keepBackend(record session.BackendRecord, clientID string) error {
	if record.Kind == session.BackendOptions {
		last := read.Backend(c.log.Tree(), record.Backend, "").Options
		if reflect.DeepEqual(last.Options, record.Options) {
			return nil
		}
	}
	return c.appendCustom(session.CustomBackend, record, clientID)
}

// prepareForeign makes the turn of another program.
func (r *runner) prepareForeign(hooked *turnHooks) (agent.Turn, agent.Runner, error) {
	name := r.summary.Backend
	if err := r.deps.checkBackend(name); err != nil {
		return agent.Turn{}, nil, err
	}
	if err := r.resetBackends(); err != nil {
		return agent.Turn{}, nil, err
	}
	var child session.ChildRecord // of a subagent's session
	read.LastCustom(r.log.Tree(), session.CustomChild, &child)
	j := journal{r, r.turns.running.id, api.Model{Provider: name}, hooked}
	work, err := r.deps.Backends.Runner(r.id, name, keeper{j, name})
	if err != nil {
		return agent.Turn{}, nil, err
	}
	return agent.Turn{
		Journal: j, Gate: gate{r.approvals, hooked}, People: people{r.questions}, Sink: sink{r.core}, Tell: j.Tell, After: hooked.after,
		Afford:   func() error { return r.others.afford(r.id) },
		Messages: read.Context(r.log.Tree()).Messages, Cwd: r.project.Path, Provider: name, System: child.Prompt,
	}, work, nil
}

// resetBackends drops sessions and options of other programs from another host, which earlier
// versions kept when they imported a file. The header of such a session names another project.
func (c *core) resetBackends() error {
	from, tree := c.log.Header().ProjectID, c.log.Tree()
	if from == "" || from == c.project.ID || !read.KeepsBackends(tree) || slices.ContainsFunc(tree.Entries(), read.FromElsewhere) {
		return nil
	}
	return c.appendCustom(session.CustomBackend, session.BackendRecord{Kind: session.BackendReset}, "")
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
	return k.change(ctx, func() error { return k.keepBackend(record, "") })
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
