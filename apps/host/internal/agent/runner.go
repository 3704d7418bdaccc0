package agent

import (
	"context"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Runner works on a turn: the loop of RunTurn, or an agent of another program. It returns once,
// with how the turn ended; everything that is to be kept is in the journal by then, and every
// tool call has exactly one result.
type Runner interface {
	Run(ctx context.Context, turn Turn) Outcome
}

// Loop is the Runner that calls models itself.
type Loop struct{}

// Run implements Runner.
func (Loop) Run(ctx context.Context, turn Turn) Outcome { return RunTurn(ctx, turn) }

// Keeper is the part of a session's log in which a Runner of another program keeps what only
// that program understands.
type Keeper interface {
	// Kept returns what the program knows of the session.
	Kept(ctx context.Context) (Kept, error)
	// Keep stores a record; it sets its Backend and TurnID.
	Keep(ctx context.Context, record session.BackendRecord) error
	// Title proposes a title, which counts unless a person has chosen one.
	Title(ctx context.Context, title string) error
}

// Kept is what another program knows of a session.
type Kept struct {
	// AgentSession is the id of its own session; "" if it has none that continues the path.
	AgentSession string
	// Missed are the messages of the path that this session does not have, without the prompt of
	// the turn.
	Missed []session.Message
	// Cost is what the session has cost before the turn.
	Cost float64
	// Options and Commands are the last records of these kinds.
	Options, Commands session.BackendRecord
	// First are the options with the values that each had when the program first named it.
	First []session.BackendOption
}

// ResultsInOrder returns messages with every tool result directly after the message with its
// call. An agent of another program speaks and makes further calls while calls of it run. The
// input is not changed.
func ResultsInOrder(messages []session.Message) []session.Message {
	results := map[string][]session.Message{}
	for _, m := range messages {
		if m.Role == session.RoleToolResult {
			results[m.ToolCallID] = append(results[m.ToolCallID], m)
		}
	}
	ordered := make([]session.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role == session.RoleToolResult {
			continue
		}
		ordered = append(ordered, m)
		for _, call := range m.Content.ToolCalls() {
			if waiting := results[call.ID]; len(waiting) > 0 {
				ordered = append(ordered, waiting[0])
				results[call.ID] = waiting[1:]
			}
		}
	}
	return ordered
}
