// Package mcp runs the MCP servers of projects and offers their tools to sessions.
//
// Servers are named in the .mcp.json of a project's folder and in config.toml. One
// of a project is started only when its folder is trusted and a person consented
// to exactly this configuration. A server runs once per project, whichever
// sessions use it, from the first turn that wants it to the end of the host. One
// that hangs, crashes or does not start costs a turn Patience at most and is a
// status; a call to it is an error result.
//
// The tools of a session are those of the moment in which its turn began.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// DefaultPatience is how long a turn waits for servers that start.
const DefaultPatience = 5 * time.Second

// Options are what the servers need of the host. All fields but Ledger are required.
type Options struct {
	Logger   *slog.Logger
	Version  string // of the program, for the servers
	Servers  map[string]state.MCPServer
	Consents *state.Consents
	// Trusted tells whether what a folder brings along counts.
	Trusted func(folder string) bool
	// Getenv and Environ are those of the process, without the keys of providers.
	Getenv  func(string) string
	Environ func() []string
	// Withheld tells whether a variable is one of those that are left out.
	Withheld func(name string) bool
	Patience time.Duration
	Ledger   *procgroup.Ledger // notes the servers that run; nil notes none
}

// Manager owns the servers of all projects.
type Manager struct {
	options Options
	ctx     context.Context // ends all servers
	cancel  context.CancelFunc

	mu      sync.Mutex
	running map[string]map[string]*server // by folder and name
	ending  sync.WaitGroup                // one for each server that was started
	closed  bool
}

// New returns a manager without servers. Close ends it.
func New(options Options) *Manager {
	m := &Manager{options: options, running: map[string]map[string]*server{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Close ends every server with its processes and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.ending.Wait()
}

// Tools returns the tools for a turn in folder, by name. It starts the servers
// that may run and waits for them, Patience at most and not longer than ctx.
func (m *Manager) Tools(ctx context.Context, folder string) []agent.Tool {
	servers := m.start(folder)
	var starting []<-chan struct{}
	for _, s := range servers {
		if settled := s.want(); settled != nil {
			starting = append(starting, settled)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, m.options.Patience)
	defer cancel()
	for _, settled := range starting {
		select {
		case <-settled:
		case <-ctx.Done(): // the others offer what they have
		}
	}
	return offer(servers)
}

// start brings the running servers of a folder in line with its configuration.
func (m *Manager) start(folder string) []*server {
	specs, _ := configured(m.options.Servers, folder)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	running := m.running[folder]
	if running == nil {
		running = map[string]*server{}
		m.running[folder] = running
	}
	may := map[string]bool{}
	var servers []*server
	for _, spec := range specs {
		if state, _ := m.admits(spec, folder); state != api.MCPIdle {
			continue
		}
		may[spec.name] = true
		s := running[spec.name]
		if s != nil && !s.spec.same(spec) {
			s.cancel()
			s = nil
		}
		if s == nil {
			s = m.run(spec, folder)
			running[spec.name] = s
		}
		servers = append(servers, s)
	}
	for name, s := range running {
		if !may[name] {
			s.cancel()
			delete(running, name)
		}
	}
	return servers
}

func (m *Manager) run(spec spec, folder string) *server {
	s := run(m.ctx, spec, folder, &m.options)
	m.ending.Go(func() { <-s.done })
	return s
}

// admits tells whether a server may run: api.MCPIdle when it may, else why not.
func (m *Manager) admits(s spec, folder string) (api.MCPServerState, string) {
	switch {
	case s.fault != "":
		return api.MCPFailed, s.fault
	case s.disabled:
		return api.MCPDisabled, "config.toml says enabled = false"
	case s.source == SourceUser:
		return api.MCPIdle, ""
	case !m.options.Trusted(folder):
		return api.MCPUntrusted, "the folder is not trusted"
	}
	switch allowed, decided := m.options.Consents.Find(folder, s.name, s.definition.hash()); {
	case allowed:
		return api.MCPIdle, ""
	case decided:
		return api.MCPDenied, "somebody denied it"
	}
	return api.MCPNeedsConsent, "nobody consented to this configuration yet"
}

// List tells how the servers of a folder stand, by name, without starting any.
// problems are sentences about the configuration as a whole.
func (m *Manager) List(folder string) (list []api.MCPServer, problems []string) {
	list = []api.MCPServer{}
	specs, problems := configured(m.options.Servers, folder)
	for _, spec := range specs {
		list = append(list, m.status(spec, folder))
	}
	return list, problems
}

func (m *Manager) status(spec spec, folder string) api.MCPServer {
	status := api.MCPServer{Name: spec.name, Source: spec.source, Tools: []string{}}
	spec.definition.describe(&status)
	if spec.source == SourceProject {
		status.Hash = spec.definition.hash()
	}
	status.State, status.Reason = m.admits(spec, folder)
	if status.State != api.MCPIdle {
		return status
	}
	m.mu.Lock()
	s := m.running[folder][spec.name]
	m.mu.Unlock()
	if s != nil && s.spec.same(spec) {
		state, reason, tools, _ := s.snapshot()
		status.State, status.Reason = state, reason
		for _, tool := range tools {
			status.Tools = append(status.Tools, tool.Name)
		}
		slices.Sort(status.Tools)
	}
	return status
}

// Errors of Decide.
var (
	ErrUnknown = errors.New("the project has no such server")
	ErrChanged = errors.New("the configuration is not the one that was shown")
)

// Decide keeps what a person decided about a server of a folder. hash is that of
// the configuration that was shown. A server that is denied ends; one that is
// allowed starts at the next turn.
func (m *Manager) Decide(folder, name, hash string, allow bool, by string) (api.MCPServer, error) {
	specs, _ := configured(m.options.Servers, folder)
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == name && s.source == SourceProject })
	if i < 0 {
		return api.MCPServer{}, ErrUnknown
	}
	if specs[i].definition.hash() != hash {
		return api.MCPServer{}, ErrChanged
	}
	decision := state.Consent{Project: folder, Server: name, Hash: hash, Allowed: allow, DecidedBy: by}
	if err := m.options.Consents.Decide(decision); err != nil {
		return api.MCPServer{}, fmt.Errorf("mcp: keeping a decision: %w", err)
	}
	if !allow {
		m.mu.Lock()
		if s := m.running[folder][name]; s != nil {
			s.cancel()
			delete(m.running[folder], name)
		}
		m.mu.Unlock()
	}
	return m.status(specs[i], folder), nil
}
