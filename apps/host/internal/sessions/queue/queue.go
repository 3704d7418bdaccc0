// Package queue says what becomes of the prompts that wait in a session: where a new one is
// put, what an edit makes of them, and which text is refused. It is given the queue and
// returns another; who owns the session keeps that.
package queue

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Add puts a prompt at its place: a steer goes before what waits for the end of
// the turn.
func Add(waiting []session.QueuedPrompt, prompt session.QueuedPrompt) []session.QueuedPrompt {
	at := len(waiting)
	if prompt.Mode == session.ModeSteer {
		if first := slices.IndexFunc(waiting, func(q session.QueuedPrompt) bool { return q.Mode != session.ModeSteer }); first >= 0 {
			at = first
		}
	}
	return slices.Insert(slices.Clone(waiting), at, prompt)
}

// Mode is a mode as the queue holds it; an *api.Error of KindBadRequest where there is no such
// mode.
func Mode(mode session.PromptMode) (session.PromptMode, error) {
	switch mode {
	case "", session.ModeFollowUp:
		return "", nil
	case session.ModeSteer:
		return mode, nil
	}
	return "", api.Errorf(api.KindBadRequest, "the mode must be %q or %q", session.ModeFollowUp, session.ModeSteer)
}

// Keys returns the clientKeys of prompts, in their order.
func Keys(waiting []session.QueuedPrompt) []string {
	keys := make([]string, 0, len(waiting))
	for _, q := range waiting {
		keys = append(keys, q.ClientKey)
	}
	return keys
}

// Size is how much a queue has in the log, in bytes; api.MaxQueueBytes is about it.
func Size(waiting []session.QueuedPrompt) int {
	encoded, err := session.Encode(waiting)
	if err != nil { // texts and numbers encode
		return 0
	}
	return len(encoded)
}

// CheckPrompt refuses a prompt without a key or text, or with too much of one. The error is an
// *api.Error: bad_request or too_large.
func CheckPrompt(request api.SendPromptRequest) error {
	switch {
	case request.ClientKey == "" || len(request.ClientKey) > api.MaxClientKey:
		return api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	case strings.TrimSpace(request.Text) == "":
		return api.Errorf(api.KindBadRequest, "the prompt is empty: write something")
	case len(request.Text) > api.MaxPrompt:
		return api.Errorf(api.KindTooLarge, "the prompt has %d bytes, the limit is %d: put it into a file and name the file", len(request.Text), api.MaxPrompt)
	case !utf8.ValidString(request.Text):
		return api.Errorf(api.KindBadRequest, "the prompt is not UTF-8")
	}
	return nil
}
