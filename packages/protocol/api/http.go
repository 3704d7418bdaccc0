package api

import "github.com/scorel/scorel/packages/protocol/session"

// Types of the HTTP adapter where it differs from Table. Everything else uses the
// requests and responses as they are.
type (
	// HTTPFailure is the body of every answer with a status of 400 or more.
	HTTPFailure struct {
		Error HTTPError `json:"error"`
	}
	// HTTPError describes a failed request.
	HTTPError struct {
		Kind    string `json:"kind"`    // name of the kind
		Number  Kind   `json:"number"`  // for code; numbers are only ever appended
		Message string `json:"message"` // one sentence for people: what is wrong and what to do
	}
	// TurnAnswer is the answer to send_prompt with wait=turn, sent when the turn of
	// the prompt has ended.
	TurnAnswer struct {
		State   PromptState `json:"state"`
		EntryID string      `json:"entryId"` // of the prompt's message
		Turn    TurnOutcome `json:"turn"`
	}
	// TurnOutcome is how a turn ended.
	TurnOutcome struct {
		TurnID     string             `json:"turnId"`
		StopReason session.StopReason `json:"stopReason"`
		Error      string             `json:"error,omitempty"`
		Text       string             `json:"text"` // text of the last assistant message
		// AssistantMessageID is the entry id of that message; absent if there is
		// none.
		AssistantMessageID string `json:"assistantMessageId,omitempty"`
		// Usage is the sum over all messages of the turn; absent if no provider
		// reported any.
		Usage *session.Usage `json:"usage,omitempty"`
	}
)
