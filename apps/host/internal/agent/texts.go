package agent

import (
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Texts that a model reads in place of a result. They are stable: no time, no
// id, so that a prompt built twice is the same prompt.
const (
	// TextNotStarted answers a call that the cancel found waiting.
	TextNotStarted = "Not executed: the turn was canceled before this call started."
	// TextDenied answers a call that a person refused.
	TextDenied = "Denied: the user denied this call. Do not try it again in the same or another way; " +
		"continue without it, or explain why it is needed."
	// TextFeedback begins the text of a call that a person refused with a word.
	TextFeedback = "Denied: the user denied this call and says: "
	// TextForbidden begins the text of a call that is not allowed here.
	TextForbidden = "Not executed, because "
	// TextNotApproved answers a call that no one could approve.
	TextNotApproved = "Not executed: this call needs the user's approval, and the user could not be asked. " +
		"Continue without it, or say what you would need."
	// TextCut answers every call of a message that the token limit cut off.
	TextCut = "Not executed: your message reached the output limit, so its tool calls may be incomplete. " +
		"Make the call again with less text, or in several smaller calls."
	// TextModelFailed answers a call of a message that broke off.
	TextModelFailed = "Not executed: the model's message broke off before this call could start."
	// TextLimit answers a call that came although the turn may make none any more.
	TextLimit = "Not executed: this turn has reached its limit of model calls."
	// TextInterrupted answers a call whose result the log does not have.
	TextInterrupted = "No result: the host stopped while this call was open. It may have run in part; " +
		"check before you make it again."
	// TextStopped is TextInterrupted of a call that outlived the host.
	TextStopped = "No result: the host stopped while this call was open. What it had started kept running until the host " +
		"was back and ended it. It may have run in part; check before you make it again."
	// TextGoOn is the prompt before an answer that the log has without one.
	TextGoOn = "(continue)"
	// TextNotAnswered answers a question that the cancel found waiting.
	TextNotAnswered = "Not answered: the turn was canceled while this question waited."
	// TextNoOutput stands for a result without text.
	TextNoOutput = "(no output)"
)

// Cancelled is the result of a call that was stopped while it ran: it says so
// and keeps what had come out by then.
func Cancelled(after time.Duration, partial string) Result {
	text := fmt.Sprintf("Cancelled by the user after %d s. Side effects may have happened.", int(after.Round(time.Second).Seconds()))
	if partial != "" {
		text += " Partial output:\n" + partial
	}
	return Failure("%s", text)
}

// Failure is a result that tells the model what went wrong and what to do.
func Failure(format string, args ...any) Result {
	return Result{Content: session.Content{session.Text(fmt.Sprintf(format, args...))}, IsError: true}
}

// Success is a result of plain text.
func Success(text string) Result {
	return Result{Content: session.Content{session.Text(text)}}
}
