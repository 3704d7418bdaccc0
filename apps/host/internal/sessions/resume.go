package sessions

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// waitingCall is an approval that the log holds no decision for.
type waitingCall struct {
	api.Approval
	prompt session.QueuedPrompt
}

// approvalRecord decodes an entry of the log about an approval.
func approvalRecord(entry session.Entry) (record session.ApprovalRecord, ok bool) {
	if entry.Type != session.TypeCustom || entry.CustomType != session.CustomApproval {
		return record, false
	}
	custom, ok := entry.AsCustom()
	return record, ok && json.Unmarshal(custom.Data, &record) == nil
}

// openApprovals returns them by the call that waits.
func openApprovals(tree *session.Tree) map[string]waitingCall {
	open := map[string]waitingCall{}
	for _, entry := range tree.Entries() {
		record, ok := approvalRecord(entry)
		if !ok {
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

// deniedCall finds the denial of a call, which so cannot have started.
func deniedCall(tree *session.Tree, callID string) (w waitingCall, denial ruling, ok bool) {
	for _, entry := range sinceCall(tree, callID) {
		record, isApproval := approvalRecord(entry)
		switch {
		case !isApproval || record.ToolCallID != callID:
		case record.Decision == "":
			if json.Unmarshal(record.Request, &w.Approval) == nil && record.Prompt != nil {
				w.prompt = *record.Prompt
			}
		case record.ApprovalID == w.ID && w.ID != "":
			denial, ok = rulingOf(api.Decision(record.Decision), record.Feedback), record.Decision == string(api.DecisionDeny)
		}
	}
	return w, denial, ok
}

// sinceCall are the entries behind the last message that made a call.
func sinceCall(tree *session.Tree, callID string) []session.Entry {
	entries, made := tree.Entries(), messageOf(tree, callID)
	return entries[slices.IndexFunc(entries, func(e session.Entry) bool { return e.ID == made })+1:]
}

// resumeTurn takes up a turn that was waiting for an approval or an answer when the host ended,
// or whose call had been denied, or answered, and did not say so yet. That call had not
// started, and neither had those after it, so nothing runs twice: that a question is answered
// changes nothing.
func (s *Session) resumeTurn() bool {
	tree := s.log.Tree()
	if s.turn != nil || !interrupted(tree) {
		return false
	}
	_, calls := openCalls(tree)
	if len(calls) == 0 {
		return false
	}
	turnID, prompt, ok := waitingTurn(tree, calls[0].ID)
	if !ok || s.isTask(prompt) {
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
	if w, _, denied := deniedCall(tree, callID); denied {
		return w.TurnID, w.prompt, true
	}
	w, waits := openQuestions(tree)[callID]
	if !waits {
		w, _, waits = answeredCall(tree, callID)
	}
	return w.TurnID, w.prompt, waits
}

// openCalls returns the calls of the last message on the path that have no result,
// and the turn that made them.
func openCalls(tree *session.Tree) (turnID string, open []session.Block) {
	path, err := tree.Path(tree.Leaf())
	if err != nil {
		return "", nil
	}
	answered := map[string]bool{}
	for _, entry := range slices.Backward(path) {
		m, ok := entry.AsMessage()
		if !ok {
			continue
		}
		if m.Message.Role == session.RoleToolResult {
			answered[m.Message.ToolCallID] = true
			continue
		}
		for _, call := range m.Message.Content.ToolCalls() {
			if !answered[call.ID] {
				open = append(open, call)
			}
		}
		return m.TurnID, open
	}
	return "", nil
}

// endInterrupted gives every call of a turn that was cut off its result, and then
// notes the end of the turn. A call may have run in part, so none is made again.
func (s *Session) endInterrupted() error {
	turnID, calls := openCalls(s.log.Tree())
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
	for callID, w := range openApprovals(s.log.Tree()) {
		if err := s.close(w.ID, callID); err != nil {
			s.deps.Logger.Error("closing an approval", "session", s.id, "error", err)
		}
	}
}
