package follow

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// told says how a question ended.
func told(by string, outcome api.QuestionOutcome, answer string) string {
	switch outcome {
	case api.OutcomeAnswered:
		return fmt.Sprintf("%s answered the agent: %s", by, answer)
	case api.OutcomeSkipped:
		return by + " left the question to the agent"
	case api.OutcomeTimedOut:
		return "the time to answer is over, and the agent decides"
	}
	return "the question does not wait any more"
}

// beforehand says what was faster than an answer to an approval.
func beforehand(got api.AnswerApprovalResponse) string {
	if got.Released != nil {
		return letGo(got.DecidedBy, got.Released)
	}
	return fmt.Sprintf("%s had answered already (%s), and that counts", got.DecidedBy, got.Decision)
}

// letGo says what let a call go that nobody answered.
func letGo(by string, release *session.Release) string {
	var what []string
	if len(release.Rules) > 0 {
		what = append(what, "the rules: "+strings.Join(release.Rules, ", "))
	}
	if release.Mode != "" {
		what = append(what, "the mode "+release.Mode)
	}
	if len(what) == 0 {
		what = append(what, "no rule asks about it any more")
	}
	return fmt.Sprintf("the call goes on without an answer, by a change of %s (%s)", by, strings.Join(what, "; "))
}
