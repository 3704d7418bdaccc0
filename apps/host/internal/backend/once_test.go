package backend_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ownTool is a tool of scorel's own agent, with whose calls those of other programs are compared.
type ownTool struct {
	agent.Tool
	name string
}

func (o ownTool) Spec() agent.ToolSpec                { return agent.ToolSpec{Name: o.name} }
func (ownTool) Risk() agent.Risk                      { return agent.RiskWrite }
func (ownTool) Describe(agent.Call) agent.Description { return agent.Description{Title: "own"} }

// TestACallIsAskedForOnce: scorel's own tool of that name does not describe the call of another
// program anew once it was allowed.
func TestACallIsAskedForOnce(t *testing.T) {
	w := newWorld(t)
	w.tools = agent.Fixed{List: []agent.Tool{ownTool{name: "bash"}, ownTool{name: "patch"}}}
	w.restart()
	for tool, call := range map[string]string{"bash": "call c execute make", "patch": "edit c a.go"} {
		s := w.session("fake")
		before := len(s.ended)
		s.send(call + "\nask c\ndone c ok")
		s.until("asked", func() bool { return len(s.live.Approvals) == 1 })
		waits := s.live.Approvals[0]
		if waits.ToolName != tool {
			t.Errorf("%+v", waits)
		}
		if _, err := s.AnswerApproval(t.Context(), "cli_x", api.AnswerApprovalRequest{SessionID: s.id, ApprovalID: waits.ID, Decision: api.DecisionAllow}); err != nil {
			t.Fatal(err)
		}
		s.until("it has ended or asks again", func() bool {
			return len(s.ended) > before || len(s.live.Approvals) == 1 && s.live.Approvals[0].ID != waits.ID
		})
		if len(s.ended) == before || !strings.Contains(s.said(), "chose selected opt-once") {
			t.Errorf("it asks again: %+v", s.live.Approvals)
		}
	}
}
