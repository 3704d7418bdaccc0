package follow

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// crewIs takes the agents that work for the running turn in place of what lost events
// would have told: what none of them asks any more is taken back.
func (t *tracker) crewIs(crew []api.CrewBatch) {
	working := []string{t.sessionID}
	for _, batch := range crew {
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

// childIs asks what an agent that works for our turn asks.
func (t *tracker) childIs(child api.CrewChild) {
	t.questions.keep(child.SessionID, idsOf(child.Approvals))
	if !t.ours() {
		return
	}
	for _, approval := range child.Approvals {
		t.questions.add(request{sessionID: child.SessionID, approval: &approval})
	}
}
