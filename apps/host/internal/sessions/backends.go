package sessions

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Backends are other programs that work on the turns of sessions.
type Backends interface {
	// Check returns why a backend cannot be used, as an *api.Error, or nil.
	Check(name string) error
	// Asks reports whether a backend can be set to a mode in which it asks before it acts.
	Asks(name string) bool
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

// BackendDecides reports whether a backend acts without asking: it cannot be set to a mode in which
// it asks.
func (m *Manager) BackendDecides(name string) (bool, error) { return m.deps.backendDecides(name) }

func (d Deps) backendDecides(name string) (bool, error) {
	if err := d.checkBackend(name); err != nil {
		return false, err
	}
	name = ownBackend(name)
	return name != "" && !d.Backends.Asks(name), nil
}

// BackendDecides reports whether a backend would act without asking in the next turns: also if a
// person set it to such a mode before.
func (e *settings) BackendDecides(ctx context.Context, name string) (bool, error) {
	decides, err := e.deps.backendDecides(name)
	if decides || err != nil {
		return decides, err
	}
	return inside(ctx, &e.owner, func() (bool, error) {
		kept := read.Backend(e.log.Tree(), ownBackend(name), "")
		return slices.ContainsFunc(kept.Options.Options, func(o session.BackendOption) bool {
			asFirst := func(first session.BackendOption) bool { return first.ID == o.ID && first.Value == o.Value }
			return o.Category == agent.OptionMode && agent.DecidesIn(o.Value) && !slices.ContainsFunc(kept.First, asFirst)
		}), nil
	})
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
	if !agent.Harmless(changed.Category) && (record.Decides || changed.Category != agent.OptionMode) {
		if err := e.change(ctx, e.checkAsking); err != nil {
			return err
		}
	}
	if err := e.deps.Backends.SetOption(ctx, e.id, now.Backend, option, value); err != nil {
		return err
	}
	return e.change(ctx, func() error { return e.keepBackend(record, clientID) })
}

// checkAsking refuses to have the program ask less while it works on a turn that must ask.
func (e *settings) checkAsking() error {
	if turn := e.approvals.turns.running; turn != nil && turn.asking {
		return api.Errorf(api.KindConflict, "the program must ask in the running turn, because of who sent its prompt or the mode \"plan\": change this option when the turn has ended")
	}
	return nil
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
	asking, err := r.mustAsk(name)
	if err != nil {
		return agent.Turn{}, nil, err
	}
	r.turns.running.asking, r.turns.running.tighten = asking, make(chan struct{})
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
		Asking: asking, Tighten: r.turns.running.tighten,
	}, work, nil
}

// mustAsk reports whether a program must work on the running turn in a mode in which it asks: in the
// mode plan, or because the sender of the prompt may not have it act without asking. It refuses a
// program that has no such mode.
func (r *runner) mustAsk(name string) (bool, error) {
	most := api.Mode(cmp.Or(r.turns.running.prompt.MaxMode, string(api.ModeBypass)))
	limited := permission.Lower(most, api.ModeBypass) != api.ModeBypass
	plan := r.judge.policy().Mode == api.ModePlan
	switch {
	case !limited && !plan:
		return false, nil
	case r.deps.Backends.Asks(name):
		return true, nil
	case limited:
		return false, NeedsBypass(name, "the sender of this prompt", most)
	}
	return false, api.Errorf(api.KindNotAllowed, "%s may act without asking, and the session is in the mode %q: choose another mode or another agent, or set asks = true in [backends.%s] of config.toml if its own settings make it ask", name, api.ModePlan, name)
}

// tighten has a program that works on the running turn ask from now on if the session was set to the
// mode plan. The own agent is judged by the mode at every call.
func (j *judge) tighten() {
	turn := j.turns.running
	if turn == nil || turn.tighten == nil || turn.asking || j.policy().Mode != api.ModePlan {
		return
	}
	turn.asking = true
	close(turn.tighten)
}

// NeedsBypass is why a program that acts without asking does not work for someone who may use modes
// up to most.
func NeedsBypass(name, who string, most api.Mode) error {
	return api.Errorf(api.KindNotAllowed, "%[1]s may act without asking, and %[2]s may use modes up to %[3]q: use it on the host's own machine, raise permissions.remote_mode in its config.toml, or set asks = true in its [backends.%[1]s] if the program's own settings make it ask", name, who, most)
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
