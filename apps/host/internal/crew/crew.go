// Package crew runs agents that another agent gives tasks to. Each works in a
// session of its own, a child of the session that asked, through the same
// sessions.Manager as any other: so whoever watches, over whatever connection, sees
// the same.
//
// A child begins with a record of the message and the call that it was made for;
// that message is in the log before. It runs with the rights of the turn that asks
// and never in a higher mode, and has no tools to delegate, to ask people or to
// remember. Its approvals are shown where it was asked for too. It ends with the
// turn that asks, and its background commands end with it.
//
// An Orchestrator belongs to a host, a Team to a session. The goroutine of a call
// owns its batch; each child has one goroutine, which the call waits for.
package crew

import (
	"context"
	"log/slog"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/preset"
	"github.com/scorel/scorel/apps/host/internal/sessions"
)

// Limits are what a host allows of other agents.
type Limits struct {
	Enabled       bool
	MaxConcurrent int      // that work at once for one session; at least 1
	Presets       []string // those that may be used, by name; none named is all
	Tools         []string // those that they may use at most; none named is all
	Agents        map[string]AgentLimits
}

// AgentLimits are those of one preset.
type AgentLimits struct {
	Enabled       bool
	MaxConcurrent int
	Tools         []string
}

// Options are what an Orchestrator needs. All fields are required.
type Options struct {
	Limits Limits
	// Find returns the presets of a folder.
	Find   func(cwd string) preset.Found
	Logger *slog.Logger
}

// Orchestrator runs the agents of a host.
type Orchestrator struct {
	options Options

	attach   sync.Once
	attached chan struct{} // closed when manager is set
	manager  *sessions.Manager
}

// New returns an orchestrator, which Attach makes ready.
func New(options Options) *Orchestrator {
	return &Orchestrator{options: options, attached: make(chan struct{})}
}

// Attach gives it the sessions, which need it first: a turn that a restart takes up
// may delegate before the manager is there, and waits for this.
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
	return &Team{orchestrator: o, sessionID: sessionID, slots: newSlots(o.options.Limits)}
}

// offered returns the presets of a folder that the host allows.
func (o *Orchestrator) offered(cwd string) []preset.Agent {
	var agents []preset.Agent
	for _, agent := range o.options.Find(cwd).Agents {
		if allowed, ok := o.options.Limits.Allow(agent); ok {
			agents = append(agents, allowed)
		}
	}
	return agents
}

// Allow returns a preset with the tools that it may use; false where it may not be
// used, or would have no tool.
func (l Limits) Allow(agent preset.Agent) (preset.Agent, bool) {
	own, limited := l.Agents[agent.Name]
	if !l.Enabled || limited && !own.Enabled || !preset.Permits(l.Presets, agent.Name) {
		return agent, false
	}
	tools, ok := bounded(agent.Tools, l.Tools, own.Tools)
	agent.Tools = tools
	return agent, ok
}

// bounded returns the tools that all lists permit; false where there is none.
func bounded(lists ...[]string) (tools []string, ok bool) {
	for _, list := range lists {
		tools = preset.Both(tools, list)
		if tools != nil && len(tools) == 0 {
			return nil, false
		}
	}
	return tools, true
}
