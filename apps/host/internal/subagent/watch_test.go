package subagent

import (
	"fmt"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWatchKeepsTheLatestDecisions: they are bounded, and the last update of a task has them.
func TestWatchKeepsTheLatestDecisions(t *testing.T) {
	w := newWatch("k")
	for i := range maxDecided + 3 {
		id := fmt.Sprint(i)
		w.Deliver(api.EventEnvelope{Event: api.ApprovalRequested{Approval: api.Approval{ID: id}}}, nil)
		w.Deliver(api.EventEnvelope{Event: api.ApprovalResolved{ApprovalID: id, Decision: api.DecisionDeny, DecidedBy: "cli_a"}}, nil)
	}
	now, _ := w.state()
	last := api.ApprovalDecision{ApprovalID: fmt.Sprint(maxDecided + 2), Decision: api.DecisionDeny, DecidedBy: "cli_a"}
	if len(now.approvals) != 0 || len(now.decided) != maxDecided || now.decided[maxDecided-1] != last {
		t.Errorf("approvals %+v, decisions %+v", now.approvals, now.decided)
	}
	if outcome := now.outcome(); len(outcome.decided) != maxDecided {
		t.Errorf("the outcome has the decisions %+v", outcome.decided)
	}
}
