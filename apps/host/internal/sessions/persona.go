package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Persona is an agent that a session runs as: its prompt, and what it may use. It
// narrows the tools of the session as the record of a child does.
type Persona struct {
	Name     string
	Model    string // its name on this host; "" is the default
	Prompt   string // follows the system prompt
	Limits   session.ChildRecord
	MaxTurns int // 0 is that of the host
	// MayDelegate tells which agents it may give tasks to.
	MayDelegate func(name string) bool
}

// agentName returns the agent that the session runs as; "" is none.
func (u *setup) agentName() string {
	var record session.AgentRecord
	read.LastCustom(u.log.Tree(), session.CustomAgent, &record)
	return record.Name
}

// persona finds the agent that the session runs as, as it is now, and applies its limits to
// the running turn. Without one it returns the zero value.
func (u *setup) persona(ctx context.Context) (p Persona, err error) {
	var name string
	if err := u.do(ctx, func() { name = u.agentName() }); err != nil || name == "" {
		return p, clientError(err)
	}
	if u.deps.Agent == nil {
		return p, api.Errorf(api.KindUnavailable, "this host cannot run the session as the agent %s", name)
	}
	if p, err = u.deps.Agent(u.project.Path, name); err != nil {
		return p, err
	}
	return p, clientError(u.do(ctx, func() {
		if u.turns.running != nil {
			u.turns.running.limits = &p.Limits
		}
	}))
}

// turnsOf bounds how many calls of the model a turn makes.
func turnsOf(turn *agent.Turn, most int) {
	if most > 0 && (turn.MaxSteps <= 0 || most < turn.MaxSteps) {
		turn.MaxSteps = most
	}
}

func (d Deps) findAgent(project api.Project, name string) (Persona, error) {
	if d.Agent == nil {
		return Persona{}, api.Errorf(api.KindNotFound, "this host has no agents")
	}
	return d.Agent(project.Path, name)
}
