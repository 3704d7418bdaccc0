package api

import "github.com/scorel/scorel/packages/protocol/session"

// What the HTTP adapter of a host answers where it differs from Table: the rest of
// it is requests and responses as they are.
type (
	// HTTPFailure is the body of every answer with a status of 400 or more.
	HTTPFailure struct {
		Error HTTPError `json:"error"`
	}
	// HTTPError tells what went wrong.
	HTTPError struct {
		Kind    string `json:"kind"`    // name of the number
		Number  Kind   `json:"number"`  // for code; numbers are only ever appended
		Message string `json:"message"` // one sentence for people: what is wrong and what to do
	}
	// TurnAnswer is the answer to send_prompt with wait=turn: it comes when the turn
	// of the prompt has ended.
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
		Text       string             `json:"text"` // of the last message of the assistant
	}
)
