package read

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// OpenCalls returns the calls of the last message on the path that have no result, and their
// turn.
func OpenCalls(tree *session.Tree) (turnID string, open []session.Block) {
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

// Interrupted reports whether the log ends inside a turn: a prompt or tool result without an
// answer, or an answer whose tool calls have no results.
func Interrupted(tree *session.Tree) bool { return InterruptedTurn(tree) != "" }

// InterruptedTurn returns the turn that Interrupted is about; "" if there is none.
func InterruptedTurn(tree *session.Tree) string {
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.Type == session.TypeCustom && entry.CustomType == session.CustomTurn {
			return ""
		}
		message, ok := entry.AsMessage()
		if !ok {
			continue
		}
		if message.Message.Role != session.RoleAssistant || len(message.Message.Content.ToolCalls()) > 0 {
			return message.TurnID
		}
		return ""
	}
	return ""
}

// WaitingTurn returns the turn that waited for a person because of a call, or in which a person
// denied or answered the call already; false if there is none.
func WaitingTurn(tree *session.Tree, callID string) (turnID string, prompt session.QueuedPrompt, ok bool) {
	if w, waits := OpenApprovals(tree)[callID]; waits {
		return w.TurnID, w.Prompt, true
	}
	if w, _, denied := DeniedCall(tree, callID); denied {
		return w.TurnID, w.Prompt, true
	}
	w, waits := OpenQuestions(tree)[callID]
	if !waits {
		w, _, waits = AnsweredCall(tree, callID)
	}
	return w.TurnID, w.Prompt, waits && w.Server == "" // the call of an MCP server had begun
}

// ArrivedSince reports whether the session arrived from another host since a call was made. For
// the id of no call that is since the session began.
func ArrivedSince(tree *session.Tree, callID string) bool {
	return slices.ContainsFunc(sinceCall(tree, callID), func(e session.Entry) bool {
		return e.Type == session.TypeCustom && e.CustomType == session.CustomMoved
	})
}

// sinceCall returns the entries after the last message that made a call.
func sinceCall(tree *session.Tree, callID string) []session.Entry {
	entries, made := tree.Entries(), MessageOf(tree, callID)
	return entries[slices.IndexFunc(entries, func(e session.Entry) bool { return e.ID == made })+1:]
}

// MessageOf returns the id of the last message that made a call, or "".
func MessageOf(tree *session.Tree, toolCallID string) string {
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.Role() != session.RoleAssistant {
			continue
		}
		m, ok := entry.AsMessage()
		if ok && slices.ContainsFunc(m.Message.Content.ToolCalls(), func(b session.Block) bool { return b.ID == toolCallID }) {
			return entry.ID
		}
	}
	return ""
}
