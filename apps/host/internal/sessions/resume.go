package sessions

import (
	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// resumeTurn takes up a turn that was waiting for an approval or an answer when the host ended,
// or whose call had been denied, or answered, and did not say so yet. That call had not
// started, and neither had those after it, so nothing runs twice: that a question is answered
// changes nothing.
func (s *Session) resumeTurn() bool {
	tree := s.log.Tree()
	if s.turn != nil || !read.Interrupted(tree) {
		return false
	}
	_, calls := read.OpenCalls(tree)
	if len(calls) == 0 {
		return false
	}
	turnID, prompt, ok := read.WaitingTurn(tree, calls[0].ID)
	if !ok || s.isTask(prompt) {
		return false
	}
	s.begin(turnID, prompt, true)
	return true
}

// endInterrupted gives every call of a turn that was cut off its result, and then
// notes the end of the turn. A call may have run in part, so none is made again.
func (s *Session) endInterrupted() error {
	turnID, calls := read.OpenCalls(s.log.Tree())
	for _, call := range calls {
		failed, text := true, agent.TextInterrupted
		if s.deps.Stopped != nil && s.deps.Stopped(s.id, call.ID) {
			text = agent.TextStopped
		}
		_, err := s.keepMessage(store.Mark{TurnID: turnID}, session.Message{
			Role: session.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name, IsError: &failed,
			Content: session.Content{session.Text(text)}, Timestamp: nowMillis(),
		})
		if err != nil {
			return err
		}
	}
	return s.keepCustom(session.CustomTurn, session.TurnRecord{
		TurnID:     "interrupted",
		StopReason: session.StopError,
		Error:      "The host stopped during this turn. What it did until then is kept; send a message to go on.",
	}, "")
}

// dropApprovals notes that approvals of turns that do not go on are void.
func (s *Session) dropApprovals() {
	for callID, w := range read.OpenApprovals(s.log.Tree()) {
		if err := s.close(w.ID, callID); err != nil {
			s.deps.Logger.Error("closing an approval", "session", s.id, "error", err)
		}
	}
}
