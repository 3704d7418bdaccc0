package cli

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// subagentLines prints a line for each change of a subagent's state, and none for what it
// does in between.
type subagentLines struct {
	states map[string]session.ChildState // last printed states, by child session
}

func (c *subagentLines) line(event api.Event) string {
	updated, ok := event.(api.SubagentUpdated)
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
