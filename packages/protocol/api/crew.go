package api

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// CrewBatch is the agents that work for one tool call, each in a session of its own.
type CrewBatch struct {
	ToolCallID string      `json:"toolCallId"`
	EntryID    string      `json:"entryId"` // of the message that made the call
	StartedAt  int64       `json:"startedAt"`
	Children   []CrewChild `json:"children"` // in the order of the tasks
}

// CrewChild is one of them.
type CrewChild struct {
	session.CrewMember
	// Doing is the name of the tool that it uses now.
	Doing string `json:"doing,omitempty"`
	// Approvals wait in the child's session; answer_approval answers them with its id.
	Approvals []Approval `json:"approvals,omitempty"`
}

// withoutBatch returns a new list.
func (l *Live) withoutBatch(toolCallID string) []CrewBatch {
	return slices.DeleteFunc(append([]CrewBatch{}, l.Crew...), func(b CrewBatch) bool { return b.ToolCallID == toolCallID })
}

// updateCrew replaces a child and changes no list that a copy may share.
func (l *Live) updateCrew(e CrewUpdated) {
	for i, batch := range l.Crew {
		if batch.ToolCallID != e.ToolCallID || e.Index < 0 || e.Index >= len(batch.Children) {
			continue
		}
		batch.Children = slices.Clone(batch.Children)
		batch.Children[e.Index] = e.Child
		l.Crew[i] = batch
	}
}

// CrewWaits tells whether an agent that works for the turn waits for an approval.
func (l *Live) CrewWaits() bool {
	return slices.ContainsFunc(l.Crew, func(b CrewBatch) bool {
		return slices.ContainsFunc(b.Children, func(c CrewChild) bool { return len(c.Approvals) > 0 })
	})
}
