package api

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// SubagentBatch is the subagents of one tool call, each in a session of its own.
type SubagentBatch struct {
	ToolCallID string          `json:"toolCallId"` // the call
	EntryID    string          `json:"entryId"`    // entry of the message with the call
	StartedAt  int64           `json:"startedAt"`  // Unix milliseconds
	Children   []SubagentChild `json:"children"`   // in the order of the tasks
}

// SubagentChild is one subagent of a batch.
type SubagentChild struct {
	session.SubagentMember
	// Doing is the name of the tool that it is using.
	Doing string `json:"doing,omitempty"`
	// Approvals wait in the child's session; answer_approval with that session's id
	// answers them.
	Approvals []Approval `json:"approvals,omitempty"`
	// Decided holds the latest decisions about its approvals, oldest first; absent from
	// older hosts.
	Decided []ApprovalDecision `json:"decided,omitempty"`
}

// ApprovalDecision is how an approval of a subagent was answered.
type ApprovalDecision struct {
	ApprovalID string   `json:"approvalId"` // the approval that was decided
	Decision   Decision `json:"decision"`   // as in approval_resolved
	DecidedBy  string   `json:"decidedBy"`  // client id, token id, or "host"
	// Released is set if a rule or mode allowed the call before anyone answered.
	Released *session.Release `json:"released,omitempty"`
}

// withoutBatch returns a new list without the batch.
func (l *Live) withoutBatch(toolCallID string) []SubagentBatch {
	return slices.DeleteFunc(append([]SubagentBatch{}, l.Subagents...), func(b SubagentBatch) bool { return b.ToolCallID == toolCallID })
}

// updateSubagents replaces a child without modifying a list that a copy may share.
func (l *Live) updateSubagents(e SubagentUpdated) {
	for i, batch := range l.Subagents {
		if batch.ToolCallID != e.ToolCallID || e.Index < 0 || e.Index >= len(batch.Children) {
			continue
		}
		batch.Children = slices.Clone(batch.Children)
		batch.Children[e.Index] = e.Child
		l.Subagents[i] = batch
	}
}

// SubagentWaits reports whether a subagent of the turn waits for an approval.
func (l *Live) SubagentWaits() bool {
	return slices.ContainsFunc(l.Subagents, func(b SubagentBatch) bool {
		return slices.ContainsFunc(b.Children, func(c SubagentChild) bool { return len(c.Approvals) > 0 })
	})
}
