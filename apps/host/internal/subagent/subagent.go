// Package subagent runs the agents that another agent gives tasks to. Each runs in its own
// session, a child of the session that asked, managed by the same sessions.Manager as any
// other. A watcher therefore sees the same over any connection.
//
// A child session begins with a record of the message and the call that it was made for;
// the log contains that message first. A subagent runs with the permissions of the calling
// turn and never in a higher mode, and has no tools to delegate, ask people or keep
// memories. Its approvals are also shown in the session that asked. It ends with the
// calling turn, and its background commands end with it.
//
// An Orchestrator belongs to a host, a Team to a session. The goroutine of a call owns its
// batch; each child has one goroutine, which the call waits for.
package subagent

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/sessions"
)

// Limits are the host's limits on subagents.
type Limits struct {
	Enabled       bool
	MaxConcurrent int      // running at once for one session; at least 1
	Permitted     []string // permitted agent definitions, by name; nil permits all, an empty list none
	Tools         []string // tools they may use at most; nil permits all, an empty list none
	// Backends are the programs that may work on tasks of agents whose tools are not limited.
	Backends []string
	Agents   map[string]AgentLimits
}

// AgentLimits are the limits of one agent definition.
type AgentLimits struct {
	Enabled       bool
	MaxConcurrent int
	Tools         []string
	Backends      []string // programs that may work on its tasks although its tools are limited
}

// Options configure an Orchestrator. All fields are required.
type Options struct {
	// Limits returns the current limits; it is called when a turn begins.
	Limits func() Limits
	// Find returns the agent definitions that apply in a folder.
	Find   func(cwd string) agentdef.Found
	Logger *slog.Logger
}

// Orchestrator runs the subagents of a host.
type Orchestrator struct {
	options Options

	attach   sync.Once
	attached chan struct{} // closed when manager is set
	manager  *sessions.Manager
}

// New returns an Orchestrator. It cannot start subagents before Attach is called.
func New(options Options) *Orchestrator {
	return &Orchestrator{options: options, attached: make(chan struct{})}
}

// Attach sets the session manager, which needs the Orchestrator first. A turn that resumes
// after a restart may delegate before the manager exists, and waits for Attach.
func (o *Orchestrator) Attach(manager *sessions.Manager) {
	o.attach.Do(func() {
		o.manager = manager
		close(o.attached)
	})
}

func (o *Orchestrator) sessions(ctx context.Context) (*sessions.Manager, error) {
	select {
	case <-o.attached:
		return o.manager, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Team returns the agents that work for one session.
func (o *Orchestrator) Team(sessionID string) *Team {
	return &Team{orchestrator: o, sessionID: sessionID, slots: newSlots(Limits{})}
}

// offered returns the agent definitions of a folder that the host permits.
func (o *Orchestrator) offered(cwd string, limits Limits) []agentdef.Agent {
	var agents []agentdef.Agent
	for _, agent := range o.options.Find(cwd).Agents {
		if allowed, ok := limits.Allow(agent); ok {
			agents = append(agents, allowed)
		}
	}
	return agents
}

// BackendsOf returns the programs that may work on tasks of an agent, which Allow returned. Limits
// of tools do not bind them, so where there are such limits, config.toml must name the programs for
// this very agent.
func (l Limits) BackendsOf(agent agentdef.Agent) []string {
	names := slices.Clone(l.Agents[agent.Name].Backends)
	if agent.Tools == nil && len(agent.Without)+len(agent.Only)+len(agent.Deny) == 0 {
		names = append(names, l.Backends...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Allow returns an agent definition with the tools that it may use, which may be none. It
// returns false if the definition may not be used.
func (l Limits) Allow(agent agentdef.Agent) (agentdef.Agent, bool) {
	own, limited := l.Agents[agent.Name]
	if agent.Disabled || !l.Enabled || limited && !own.Enabled || !agentdef.Permits(l.Permitted, agent.Name) {
		return agent, false
	}
	agent.Tools = agentdef.Both(agentdef.Both(agent.Tools, l.Tools), own.Tools)
	return agent, true
}
