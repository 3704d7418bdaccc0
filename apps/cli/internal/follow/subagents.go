package follow

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// subagentIs replaces the known subagents of the running turn after lost events. Questions
// that none of them asks any longer are withdrawn.
func (t *tracker) subagentIs(subagents []api.SubagentBatch) {
	working := []string{t.sessionID}
	for _, batch := range subagents {
		for _, child := range batch.Children {
			working = append(working, child.SessionID)
			t.childIs(child)
		}
	}
	for _, id := range t.questions.sessions() {
		if !slices.Contains(working, id) {
			t.questions.keep(id, nil)
		}
	}
}

// childIs asks the open questions of a subagent.
func (t *tracker) childIs(child api.SubagentChild) {
	t.questions.keep(child.SessionID, idsOf(child.Approvals))
	if !t.ours() {
		return
	}
	for _, approval := range child.Approvals {
		t.questions.add(request{sessionID: child.SessionID, approval: &approval})
	}
}
