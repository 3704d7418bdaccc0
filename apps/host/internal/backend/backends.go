package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Options of a Backends. Environ is required.
type Options struct {
	Logger      *slog.Logger
	Definitions []Definition    // see Merge
	Environ     func() []string // the host's environment, of which programs get a part
	Ledger      *procgroup.Ledger
	// Confine returns the command line that runs argv in the sandbox, and Supervise one that
	// runs it without, so that everything it started ends with it; nil runs it as it is.
	Confine      func(argv []string, dir string, open ...string) []string
	Supervise    func(argv []string) []string
	MaxTurnBytes int           // 0 is the constant MaxTurnBytes
	MaxCalls     int           // 0 is the constant MaxCalls
	Version      string        // of scorel, for the programs
	IdleAfter    time.Duration // 0 is the constant IdleAfter
	CancelGrace  time.Duration // 0 is the constant CancelGrace
	// OptionTimeout is how long a program may take to change an option; 0 is the constant
	// OptionTimeout.
	OptionTimeout time.Duration
}

// Backends knows the programs that can work on turns, and the ones that run.
type Backends struct {
	options Options
	starter starter

	mu     sync.Mutex
	slots  map[string]*slot // by the id of the session
	closed bool
	wg     sync.WaitGroup // of programs that end because they are idle
}

// slot is the program of a session. busy is held by the turn that uses it.
type slot struct {
	program *program
	state   *acp.SessionState // of the agent's session; nil before it has one
	unsure  bool              // state may be wrong: the program did not answer a change of it
	busy    bool
	used    time.Time
	idle    *time.Timer // ends the program; nil while it is busy
}

// New returns the backends of a host. Close ends them.
func New(options Options) *Backends {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.IdleAfter == 0 {
		options.IdleAfter = IdleAfter
	}
	if options.CancelGrace == 0 {
		options.CancelGrace = CancelGrace
	}
	if options.OptionTimeout == 0 {
		options.OptionTimeout = OptionTimeout
	}
	if options.MaxCalls == 0 {
		options.MaxCalls = MaxCalls
	}
	if options.MaxTurnBytes == 0 {
		options.MaxTurnBytes = MaxTurnBytes
	}
	return &Backends{
		options: options, starter: starter{options}, slots: map[string]*slot{},
	}
}

// Definition returns the definition with a name. The error is for people.
func (b *Backends) Definition(name string) (Definition, error) {
	i := slices.IndexFunc(b.options.Definitions, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return Definition{}, api.Errorf(api.KindNotFound, "there is no backend %.64q: scorel backend list shows them", name)
	}
	return b.options.Definitions[i], nil
}

// Check returns why a backend cannot work on a session, or nil.
func (b *Backends) Check(name string) error {
	d, err := b.Definition(name)
	if err != nil {
		return err
	}
	if d.Path() == "" {
		return api.Errorf(api.KindNotFound, "%v", missing(d))
	}
	return nil
}

// Asks reports whether a backend can be set to a mode in which it asks before it acts.
func (b *Backends) Asks(name string) bool {
	d, err := b.Definition(name)
	if err != nil {
		return false
	}
	_, asks := d.asking()
	return asks
}

// List describes the backends.
func (b *Backends) List() []api.Backend {
	list := make([]api.Backend, 0, len(b.options.Definitions))
	for _, d := range b.options.Definitions {
		list = append(list, api.Backend{
			Name: d.Name, Title: d.title(), Command: strings.Join(append([]string{d.Command}, d.Args...), " "), Path: d.Path(),
			Install: d.Install, Login: strings.Join(d.LoginCommand(), " "), Mode: d.Mode, Model: d.Model, BuiltIn: d.BuiltIn, Sandbox: d.Sandbox,
		})
	}
	return list
}

// Runner returns what works on the turns of a session.
func (b *Backends) Runner(sessionID, name string, keeper agent.Keeper) (agent.Runner, error) {
	d, err := b.Definition(name)
	if err != nil {
		return nil, err
	}
	return &runner{backends: b, sessionID: sessionID, definition: d, keeper: keeper}, nil
}

// take returns the running program of a session, or starts one. give returns it.
func (b *Backends) take(ctx context.Context, sessionID string, d Definition, dir string) (*program, error) {
	p, stale, err := b.reserve(sessionID, d, dir)
	for _, old := range stale {
		old.end()
	}
	if p != nil || err != nil {
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	p, err = b.starter.start(ctx, d, sessionID, dir)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		delete(b.slots, sessionID)
		return nil, err
	}
	b.slots[sessionID].program = p
	return p, nil
}

// reserve makes the slot of a session busy. It returns the program that the session has and can
// use, and those that must end first.
func (b *Backends) reserve(sessionID string, d Definition, dir string) (p *program, stale []*program, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, errors.New("the host is ending")
	}
	s := b.slots[sessionID]
	if s == nil {
		if len(b.slots) >= MaxAgents {
			old := b.oldestIdle()
			if old == "" {
				return nil, nil, fmt.Errorf("%d agents work at once, which is the limit: wait until one has finished", MaxAgents)
			}
			stale = append(stale, b.slots[old].program)
			b.slots[old].idle.Stop()
			delete(b.slots, old)
		}
		s = &slot{}
		b.slots[sessionID] = s
	}
	if s.busy {
		return nil, stale, errors.New("the agent of this session still works on another turn: try again when that turn has ended")
	}
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	s.busy = true
	if s.program != nil && (!s.program.alive() || s.unsure || s.program.definition.Name != d.Name || s.program.cmd.Dir != dir) {
		stale = append(stale, s.program)
		s.program, s.state, s.unsure = nil, nil, false
	}
	return s.program, stale, nil
}

func (b *Backends) oldestIdle() (id string) {
	for other, s := range b.slots {
		if !s.busy && (id == "" || s.used.Before(b.slots[id].used)) {
			id = other
		}
	}
	return id
}

// give returns a program after a turn. One that does not live ends.
func (b *Backends) give(sessionID string, p *program) {
	b.mu.Lock()
	s := b.slots[sessionID]
	if p.alive() && !b.closed {
		s.busy, s.used = false, time.Now()
		s.idle = time.AfterFunc(b.options.IdleAfter, func() { b.endIdle(sessionID, s) })
		b.mu.Unlock()
		return
	}
	delete(b.slots, sessionID)
	b.mu.Unlock()
	p.end()
}

// endIdle ends a program that no turn has used for a while.
func (b *Backends) endIdle(sessionID string, s *slot) {
	b.mu.Lock()
	if b.slots[sessionID] != s || s.busy || b.closed {
		b.mu.Unlock()
		return
	}
	delete(b.slots, sessionID)
	b.wg.Add(1)
	b.mu.Unlock()
	defer b.wg.Done()
	s.program.end()
}

// Forget ends the program of a session that was deleted, moved or closed.
func (b *Backends) Forget(sessionID string) {
	b.mu.Lock()
	s := b.slots[sessionID]
	if s == nil || s.busy {
		b.mu.Unlock()
		return
	}
	delete(b.slots, sessionID)
	s.idle.Stop()
	b.mu.Unlock()
	s.program.end()
}

// Running counts the programs that run.
func (b *Backends) Running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.slots)
}

// Close ends all programs. No turn may run any more.
func (b *Backends) Close() {
	b.mu.Lock()
	b.closed = true
	var programs []*program
	for id, s := range b.slots {
		if s.idle != nil {
			s.idle.Stop()
		}
		if s.program != nil {
			programs = append(programs, s.program)
		}
		delete(b.slots, id)
	}
	b.mu.Unlock()
	for _, p := range programs {
		p.end()
	}
	b.wg.Wait()
}
