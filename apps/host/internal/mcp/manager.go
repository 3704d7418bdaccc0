// Package mcp runs the MCP servers of projects and offers their tools to sessions.
//
// Servers are configured in the .mcp.json of a project's folder and in config.toml. A
// project's server is started only if its folder is trusted and a person consented to
// exactly this configuration. A server runs once per project, for all sessions, from the
// first turn that needs it until the host ends. A server that hangs, crashes or does not
// start delays a turn by Patience at most and has a status that says so; a call to it
// returns an error result.
//
// The tools of a session are fixed when its turn begins.
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
	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// DefaultPatience is how long a turn waits for starting servers.
const DefaultPatience = 5 * time.Second

// Options configure a Manager. A field is required unless its comment says what nil means.
type Options struct {
	Logger   *slog.Logger
	Version  string                     // version of the program, sent to the servers
	Servers  map[string]state.MCPServer // of config.toml
	Saved    *state.SavedServers        // nil has none
	Switches *state.Switches            // nil disables none
	Auth     *mcpauth.Auth              // signs in to servers; nil signs in to none
	Consents *state.Consents
	// Trusted reports whether a folder's own configuration is used.
	Trusted func(folder string) bool
	// Origin returns the folder whose consents count for a folder, such as the project's for a
	// worktree; nil is the folder itself.
	Origin func(folder string) string
	// Bundles returns the servers of the extensions that are used in a folder; nil has none.
	Bundles func(folder string) []Bundle
	// Getenv and Environ access the environment of the process, without the providers'
	// keys.
	Getenv  func(string) string
	Environ func() []string
	// Withheld reports whether a variable is one of those that are left out.
	Withheld func(name string) bool
	Patience time.Duration
	Ledger   *procgroup.Ledger // records running servers; nil records none
	// Sandbox wraps the command line of a folder's server, and Kind names the resulting
	// sandbox as in api.HostInfo. If Sandbox is nil, servers run unconfined. Supervise
	// wraps the command line of a server that runs outside the sandbox; nil leaves it as it is.
	Sandbox   func(argv []string, folder string) []string
	Kind      string
	Supervise func(argv []string) []string
}

// Manager owns the servers of all projects.
type Manager struct {
	options Options
	ctx     context.Context // its end stops all servers
	cancel  context.CancelFunc

	mu      sync.Mutex
	running map[string]map[string]*server // by folder and name
	ending  sync.WaitGroup                // one for each started server
	closed  bool
	claims  map[place]*inbox // servers that are channels

	changing sync.Mutex    // held while a server is saved or deleted
	tests    chan struct{} // one token for each running test
}

// New returns a Manager without servers. Close stops it.
func New(options Options) *Manager {
	m := &Manager{options: options, running: map[string]map[string]*server{}, claims: map[place]*inbox{}, tests: make(chan struct{}, maxTests)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Close stops every server with its processes and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.ending.Wait()
	if m.options.Auth != nil {
		m.options.Auth.Close()
	}
}

// Leave stops the servers of a folder that is going to be removed.
func (m *Manager) Leave(folder string) {
	m.mu.Lock()
	running := m.running[folder]
	delete(m.running, folder)
	m.mu.Unlock()
	for _, s := range running {
		s.cancel()
		<-s.done
	}
}

// Tools returns the tools for a turn in folder, sorted by name. It starts the permitted
// servers and waits for them until Patience has passed or ctx ends.
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
		case <-ctx.Done(): // the others offer the tools that they have
		}
	}
	return offer(servers)
}

// start makes the running servers of a folder match its configuration.
func (m *Manager) start(folder string) []*server {
	specs, _ := m.configured(folder)
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
		if state, _ := m.admits(spec, folder); state != api.MCPIdle || m.elsewhere(spec, folder) {
			continue
		}
		may[spec.name] = true
		s := running[spec.name]
		if s != nil && (!s.spec.same(spec) || s.inbox != m.claims[place{folder, spec.name}]) {
			s.cancel()
			s = nil
		}
		if s == nil {
			s = m.run(spec, folder, m.claims[place{folder, spec.name}])
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

func (m *Manager) run(spec spec, folder string, box *inbox) *server {
	s := run(m.ctx, spec, folder, m.signInKey(spec, folder), box, &m.options)
	m.ending.Go(func() { <-s.done })
	return s
}

// admits returns api.MCPIdle if a server may run, or otherwise why not.
func (m *Manager) admits(s spec, folder string) (api.MCPServerState, string) {
	switch {
	case s.fault != "":
		return api.MCPFailed, s.fault
	case s.disabled:
		return api.MCPDisabled, "config.toml says enabled = false"
	case m.switchedOff(s, folder):
		return api.MCPDisabled, "it was disabled"
	}
	return m.permits(s, folder)
}

func (m *Manager) switchedOff(s spec, folder string) bool {
	project := folder
	if folder != "" {
		project = m.origin(folder)
	}
	return !m.options.Switches.Enabled(state.SwitchServer, s.name, project)
}

// permits returns api.MCPIdle if people allow a server to be started, enabled or not.
func (m *Manager) permits(s spec, folder string) (api.MCPServerState, string) {
	switch {
	case s.fault != "":
		return api.MCPFailed, s.fault
	case s.source != SourceProject:
		return api.MCPIdle, ""
	case !m.options.Trusted(folder):
		return api.MCPUntrusted, "the folder is not trusted"
	}
	switch allowed, decided := m.options.Consents.Find(m.origin(folder), s.name, s.definition.hash()); {
	case allowed:
		return api.MCPIdle, ""
	case decided:
		return api.MCPDenied, "it was denied"
	}
	return api.MCPNeedsConsent, "this configuration is not allowed yet"
}

// advice says what a person can do about a server that permits does not let start.
func (m *Manager) advice(state api.MCPServerState, folder string) string {
	if state == api.MCPUntrusted {
		return fmt.Sprintf("`scorel project trust %s` trusts it", m.origin(folder))
	}
	return "allow it first"
}

// origin returns the folder whose consents count for a folder.
func (m *Manager) origin(folder string) string {
	if m.options.Origin == nil {
		return folder
	}
	return m.options.Origin(folder)
}

// List returns the status of a folder's servers, sorted by name, without starting any.
// problems are sentences about the configuration as a whole.
func (m *Manager) List(folder string) (list []api.MCPServer, problems []string) {
	list = []api.MCPServer{}
	specs, problems := m.configured(folder)
	for _, spec := range specs {
		list = append(list, m.status(spec, folder))
	}
	return list, problems
}

func (m *Manager) status(spec spec, folder string) api.MCPServer {
	status := api.MCPServer{Name: spec.name, Source: spec.source, Tools: []string{}}
	spec.describe(&status)
	if status.Transport == "stdio" {
		status.Sandbox = "none"
		if !spec.unconfined && m.options.Sandbox != nil {
			status.Sandbox = m.options.Kind
		}
		status.Shown += " [sandbox: " + status.Sandbox + "]"
	}
	if spec.source == SourceProject {
		status.Hash = spec.definition.hash()
	}
	if m.owns(spec, folder) {
		status.Version = spec.version()
	}
	status.State, status.Reason = m.admits(spec, folder)
	status.Disabled = status.State == api.MCPDisabled && !spec.disabled
	status.SignIn = m.signIn(spec, folder)
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
	ErrChanged = errors.New("the configuration has changed since it was shown")
)

// Decide stores a person's decision about a server of a folder. hash is that of the
// configuration that was shown. A denied server is stopped; an allowed one starts at the
// next turn.
func (m *Manager) Decide(folder, name, hash string, allow bool, by string) (api.MCPServer, error) {
	specs, _ := m.configured(folder)
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == name && s.source == SourceProject })
	if i < 0 {
		return api.MCPServer{}, ErrUnknown
	}
	if specs[i].definition.hash() != hash {
		return api.MCPServer{}, ErrChanged
	}
	decision := state.Consent{Project: folder, Server: name, Hash: hash, Allowed: allow, DecidedBy: by}
	if err := m.options.Consents.Decide(decision); err != nil {
		return api.MCPServer{}, fmt.Errorf("mcp: storing a decision: %w", err)
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
