package sessions

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAResumedTurnAsksAgain: between the start of a resumed turn and its question, an answer is
// not one to an unknown approval.
func TestAResumedTurnAsksAgain(t *testing.T) {
	turn := &runningTurn{kept: map[string]read.WaitingCall{"call": {Approval: api.Approval{ID: "apr_1"}}}}
	if !turn.asksAgain("apr_1") || turn.asksAgain("apr_2") || (*runningTurn)(nil).asksAgain("apr_1") {
		t.Error("only what waited before is asked again")
	}
}
