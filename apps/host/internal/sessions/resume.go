package sessions

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// waitingCall is an approval that the log holds no decision for.
type waitingCall struct {
	api.Approval
	prompt session.QueuedPrompt
}

// openApprovals returns them by the call that waits.
func openApprovals(tree *session.Tree) map[string]waitingCall {
	open := map[string]waitingCall{}
	for _, entry := range tree.Entries() {
		if entry.Type != session.TypeCustom || entry.CustomType != session.CustomApproval {
			continue
		}
		custom, ok := entry.AsCustom()
		var record session.ApprovalRecord
		if !ok || json.Unmarshal(custom.Data, &record) != nil {
			continue
		}
		if record.Decision != "" {
			if w, waits := open[record.ToolCallID]; waits && w.ID == record.ApprovalID {
				delete(open, record.ToolCallID)
			}
			continue
		}
		var w waitingCall
		if json.Unmarshal(record.Request, &w.Approval) == nil && record.Prompt != nil {
			w.prompt = *record.Prompt
			open[record.ToolCallID] = w
		}
	}
	return open
}

// resumeTurn takes up a turn that was waiting for an approval or an answer when the host ended.
// Its call had not started, and neither had those after it, so nothing runs twice.
func (s *Session) resumeTurn() bool {
	tree := s.log.Tree()
	callID := nextCall(tree)
	turnID, prompt, ok := waitingTurn(tree, callID)
	if callID == "" || !ok || s.turn != nil || !interrupted(tree) || s.isTask(prompt) {
		return false
	}
	s.begin(turnID, prompt, true)
	return true
}

// waitingTurn finds the turn that waits for a person because of a call.
func waitingTurn(tree *session.Tree, callID string) (turnID string, prompt session.QueuedPrompt, ok bool) {
	if w, waits := openApprovals(tree)[callID]; waits {
		return w.TurnID, w.prompt, true
	}
	w, waits := openQuestions(tree)[callID]
	return w.TurnID, w.prompt, waits
}

// nextCall returns the first call of the last message that has no result, or "".
func nextCall(tree *session.Tree) string {
	answered := map[string]bool{}
	path, err := tree.Messages(tree.Leaf())
	if err != nil {
		return ""
	}
	for _, m := range slices.Backward(path) {
		if m.Role == session.RoleToolResult {
			answered[m.ToolCallID] = true
			continue
		}
		for _, call := range m.Content.ToolCalls() {
			if !answered[call.ID] {
				return call.ID
			}
		}
		return ""
	}
	return ""
}

// dropApprovals notes that approvals of turns that do not go on are void.
func (s *Session) dropApprovals() {
	for callID, w := range openApprovals(s.log.Tree()) {
		if err := s.close(w.ID, callID); err != nil {
			s.deps.Logger.Error("closing an approval", "session", s.id, "error", err)
		}
	}
}
