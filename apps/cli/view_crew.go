package cli

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// crewLines tells of the agents that work for a turn: a line for each change of a
// state, and none for what an agent does in between.
type crewLines struct {
	states map[string]session.ChildState // by the child's session, as they were told
}

func (c *crewLines) line(event api.Event) string {
	updated, ok := event.(api.CrewUpdated)
	if !ok {
		return ""
	}
	child := updated.Child
	key := fmt.Sprint(updated.ToolCallID, "/", updated.Index)
	if c.states == nil {
		c.states = map[string]session.ChildState{}
	}
	if c.states[key] == child.State {
		return ""
	}
	c.states[key] = child.State
	line := fmt.Sprintf("  %s: %s (%s)", printable(child.Agent), printable(string(child.State)), printable(clip(child.Title, 80)))
	if child.Error != "" {
		line += ": " + printable(clip(child.Error, 160))
	}
	return line
}
