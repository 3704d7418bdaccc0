package follow

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Told describes how a question ended.
func Told(by string, outcome api.QuestionOutcome, answer string) string {
	switch outcome {
	case api.OutcomeAnswered:
		return fmt.Sprintf("%s answered the agent: %s", by, answer)
	case api.OutcomeSkipped:
		return by + " let the agent decide"
	case api.OutcomeTimedOut:
		return "there was no answer in time, so the agent decided"
	}
	return "the question is no longer open"
}

// Beforehand describes what was faster than an answer to an approval.
func Beforehand(got api.AnswerApprovalResponse) string {
	if got.Released != nil {
		return letGo(got.DecidedBy, got.Released)
	}
	return fmt.Sprintf("%s answered first (%s)", got.DecidedBy, got.Decision)
}

// letGo describes what allowed a call that no one answered.
func letGo(by string, release *session.Release) string {
	var what []string
	if len(release.Rules) > 0 {
		what = append(what, "the rules: "+strings.Join(release.Rules, ", "))
	}
	if release.Mode != "" {
		what = append(what, "the mode "+release.Mode)
	}
	if len(what) == 0 {
		what = append(what, "no rule asks about it anymore")
	}
	return fmt.Sprintf("the call continues without an answer, because of a change by %s (%s)", by, strings.Join(what, "; "))
}
