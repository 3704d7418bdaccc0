package follow

import (
	"context"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestReleasedCallsAreExplained: the person being asked learns why no answer is needed any
// longer.
func TestReleasedCallsAreExplained(t *testing.T) {
	for _, c := range []struct {
		release session.Release
		want    string
	}{
		{session.Release{Rules: []string{"bash(make)"}}, "cli_y (the rules: bash(make))"},
		{session.Release{Rules: []string{"bash(a)", "bash(b)"}, Mode: "auto"}, "cli_y (the rules: bash(a), bash(b); the mode auto)"},
		{session.Release{}, "cli_y (no rule asks about it anymore)"},
	} {
		got := Beforehand(api.AnswerApprovalResponse{DecidedBy: "cli_y", Decision: api.DecisionAllow, Released: &c.release})
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%q", got)
		}
		tr, view := track(t)
		view.decide = func(ctx context.Context, _ api.Approval) (Verdict, error) {
			<-ctx.Done()
			return Verdict{}, ctx.Err()
		}
		tr.questions.add(request{approval: &api.Approval{ID: "a1"}})
		tr.event(api.EventEnvelope{Event: api.ApprovalResolved{ApprovalID: "a1", Decision: api.DecisionAllow, DecidedBy: "cli_y", Released: &c.release}})
		if len(view.notices) != 1 || view.notices[0] != got {
			t.Errorf("told %q, want %q", view.notices, got)
		}
	}
}
