package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Options configure a Manager. All fields but Ledger, Origin, Bundles, Sandbox and Supervise
// are required.
type Options struct {
	Logger   *slog.Logger
	Hooks    []state.Hook // of config.toml
	Consents *state.Consents
	// Trusted reports whether a folder's own configuration is used.
	Trusted func(folder string) bool
	// Origin returns the folder whose consents count for a folder, such as the project's for a
	// worktree; nil is the folder itself.
	Origin func(folder string) string
	// Bundles returns the hooks of the extensions that are used in a folder; nil has none.
	Bundles func(folder string) []Bundle
	// Environ is the environment of the process, without the providers' keys.
	Environ func() []string
	Ledger  *procgroup.Ledger // records running hooks; nil records none
	// Sandbox wraps a command line in a folder, and Kind names the resulting sandbox as in
	// api.HostInfo. Supervise wraps one that runs outside the sandbox.
	Sandbox   func(argv []string, folder string) []string
	Kind      string
	Supervise func(argv []string) []string
}

// Manager knows the hooks of all folders and runs them. A nil Manager has none.
type Manager struct {
	options Options

	mu   sync.Mutex
	last map[lastKey]api.HookRun
}

// lastKey is a hook in the folder whose consents count for it.
type lastKey struct{ origin, id string }

// maxLast bounds the remembered runs.
const maxLast = 4096

// New returns a Manager.
func New(options Options) *Manager {
	return &Manager{options: options, last: map[lastKey]api.HookRun{}}
}

func (m *Manager) origin(folder string) string {
	if m.options.Origin == nil || folder == "" {
		return folder
	}
	return m.options.Origin(folder)
}

func consentName(id string) string { return "hook:" + id }

// permits returns api.HookReady if a hook may run in a folder, or otherwise why not.
func (m *Manager) permits(s spec, folder string) (api.HookState, string) {
	switch {
	case s.fault != "":
		return api.HookFailed, s.fault
	case s.disabled:
		return api.HookDisabled, "config.toml says enabled = false"
	case s.root != "" && !m.used(s, folder):
		return api.HookDisabled, "its extension is disabled or was changed"
	case !s.project():
		return api.HookReady, ""
	case !m.options.Trusted(folder):
		return api.HookUntrusted, "the folder is not trusted"
	}
	hash, all := s.hash(folder)
	switch {
	case all:
	case m.earlier(s, folder, hash): // it fails instead of being switched off
		return api.HookNeedsConsent, tooMany
	default:
		return api.HookFailed, tooMany
	}
	switch allowed, decided := m.options.Consents.Find(m.origin(folder), consentName(s.id()), hash); {
	case allowed:
		return api.HookReady, ""
	case decided:
		return api.HookDenied, "it was denied"
	case m.earlier(s, folder, hash):
		return api.HookNeedsConsent, "a file that it names has changed since it was allowed"
	}
	return api.HookNeedsConsent, "it is not allowed yet"
}

// changed reports whether a hook was allowed with other content of the files that it names.
func (m *Manager) changed(s spec, folder string) bool {
	hash, _ := s.hash(folder)
	return m.earlier(s, folder, hash)
}

// earlier is changed for a hook whose hash now is known.
func (m *Manager) earlier(s spec, folder, hash string) bool {
	return m.options.Consents.Earlier(m.origin(folder), consentName(s.id()), hash)
}

// List returns the hooks of a folder without running any. problems are sentences about the
// configuration as a whole. The folder "" has those of config.toml.
func (m *Manager) List(folder string) (list []api.Hook, problems []string) {
	specs, problems := m.configured(folder)
	list = []api.Hook{}
	for _, s := range specs {
		list = append(list, m.status(s, folder))
	}
	return list, problems
}

func (m *Manager) status(s spec, folder string) api.Hook {
	h := api.Hook{
		ID: s.id(), Name: s.name, Event: s.Event, Source: s.Source, Declared: s.Declared, Matcher: s.Matcher, Command: s.Command,
		TimeoutSeconds: s.Seconds, Sandbox: "none",
	}
	if !s.unconfined && m.options.Sandbox != nil {
		h.Sandbox = m.options.Kind
	}
	if s.project() {
		files, all := s.files(folder)
		h.Hash = s.hashWith(files, all)
		for _, file := range files {
			h.Files = append(h.Files, file.Path)
		}
	}
	h.State, h.Reason = m.permits(s, folder)
	m.mu.Lock()
	defer m.mu.Unlock()
	if run, ok := m.last[lastKey{m.origin(folder), h.ID}]; ok {
		h.Last = &run
	}
	return h
}

// Errors of Decide and Test.
var (
	ErrUnknown = errors.New("there is no such hook")
	ErrChanged = errors.New("the hook has changed since it was shown")
)

func (m *Manager) find(folder, id string) (spec, error) {
	specs, _ := m.configured(folder)
	i := slices.IndexFunc(specs, func(s spec) bool { return s.id() == id })
	if i < 0 {
		return spec{}, ErrUnknown
	}
	return specs[i], nil
}

// Decide stores a person's decision about a hook of a folder. hash is that of the hook that
// was shown.
func (m *Manager) Decide(folder, id, hash string, allow bool, by string) (api.Hook, error) {
	s, err := m.find(folder, id)
	if err != nil {
		return api.Hook{}, err
	}
	shown, all := s.hash(folder)
	switch {
	case s.root != "":
		return api.Hook{}, api.Errorf(api.KindConflict, "the hook comes with an extension: enable or disable the extension")
	case !s.project():
		return api.Hook{}, api.Errorf(api.KindConflict, "the hook comes from config.toml, which needs no consent: change it there")
	case shown != hash:
		return api.Hook{}, ErrChanged
	case allow && !all:
		return api.Hook{}, api.Errorf(api.KindConflict, "the hook cannot be allowed: %s", tooMany)
	}
	decision := state.Consent{Project: m.origin(folder), Server: consentName(id), Hash: hash, Allowed: allow, DecidedBy: by}
	if err := m.options.Consents.Decide(decision); err != nil {
		return api.Hook{}, fmt.Errorf("hook: storing a decision: %w", err)
	}
	return m.status(s, folder), nil
}

// Test runs a hook once with an example of its event, and returns the input.
func (m *Manager) Test(ctx context.Context, folder, id string) (run api.HookRun, input string, err error) {
	s, err := m.find(folder, id)
	if err != nil {
		return run, "", err
	}
	if state, reason := m.permits(s, folder); state != api.HookReady {
		return run, "", api.Errorf(api.KindConflict, "the hook does not run: %s", reason)
	}
	in := example(s, folder)
	messages, err := s.messages(in)
	if err != nil {
		return run, "", err
	}
	_, run = m.run(ctx, s, folder, in)
	return run, string(messages[0]), nil
}

// run runs a hook for an event and remembers the result, unless ctx ended: a hook that is stopped
// because a person was faster, or the turn ended, has no fault.
func (m *Manager) run(ctx context.Context, s spec, folder string, in Input) (Result, api.HookRun) {
	began := time.Now()
	r := m.outcome(ctx, s, folder, in)
	r.Name, r.Source = s.label(), s.Source
	run := api.HookRun{At: began.UnixMilli(), DurationMs: time.Since(began).Milliseconds(), Outcome: r.Outcome, Text: r.Reason}
	if run.Text == "" {
		run.Text = r.Context
	}
	if ctx.Err() != nil {
		return r, run
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := lastKey{m.origin(folder), s.id()}
	if _, known := m.last[key]; known || len(m.last) < maxLast {
		m.last[key] = run
	}
	return r, run
}

// outcome runs a hook for each file of a call, until one run denies or fails.
func (m *Manager) outcome(ctx context.Context, s spec, folder string, in Input) Result {
	messages, err := s.messages(in)
	if err != nil {
		return broken(err.Error())
	}
	total := Result{Outcome: api.HookNothing}
	for _, input := range messages {
		end, err := m.execute(ctx, s, folder, input)
		if err != nil {
			return broken(err.Error())
		}
		switch r := interpret(s.Event, end); {
		case r.Outcome == api.HookRefused, r.Outcome == api.HookBroken:
			return r
		case r.Outcome == api.HookAsked, total.Outcome == api.HookNothing:
			r.Context = joined(total.Context, r.Context)
			total = r
		default:
			total.Context = joined(total.Context, r.Context)
		}
	}
	return total
}

func joined(before, added string) string {
	if before == "" || before == added {
		return added
	}
	return clip(before+"\n"+added, maxContext)
}
