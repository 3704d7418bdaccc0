// Package queue defines how the prompts that wait in a session change: where a new prompt is
// inserted, what an edit does, and which text is rejected. Its functions take a queue and
// return another; the session keeps it.
package queue

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Add inserts a prompt at its position: a steering prompt goes before those that wait for the
// end of the turn.
func Add(waiting []session.QueuedPrompt, prompt session.QueuedPrompt) []session.QueuedPrompt {
	at := len(waiting)
	if prompt.Mode == session.ModeSteer {
		if first := slices.IndexFunc(waiting, func(q session.QueuedPrompt) bool { return q.Mode != session.ModeSteer }); first >= 0 {
			at = first
		}
	}
	return slices.Insert(slices.Clone(waiting), at, prompt)
}

// Mode returns a mode as the queue stores it; an *api.Error of KindBadRequest if the mode is
// unknown.
func Mode(mode session.PromptMode) (session.PromptMode, error) {
	switch mode {
	case "", session.ModeFollowUp:
		return "", nil
	case session.ModeSteer:
		return mode, nil
	}
	return "", api.Errorf(api.KindBadRequest, "the mode must be %q or %q", session.ModeFollowUp, session.ModeSteer)
}

// Keys returns the clientKeys of prompts, in order.
func Keys(waiting []session.QueuedPrompt) []string {
	keys := make([]string, 0, len(waiting))
	for _, q := range waiting {
		keys = append(keys, q.ClientKey)
	}
	return keys
}

// Size returns the size of a queue in the log, in bytes, which api.MaxQueueBytes limits.
func Size(waiting []session.QueuedPrompt) int {
	encoded, err := session.Encode(waiting)
	if err != nil { // strings and numbers always encode
		return 0
	}
	return len(encoded)
}

// CheckPrompt rejects a prompt that has no key or text, or too much of one. The error is an
// *api.Error: bad_request or too_large.
func CheckPrompt(request api.SendPromptRequest) error {
	switch {
	case request.ClientKey == "" || len(request.ClientKey) > api.MaxClientKey:
		return api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	case request.Text != "" && len(request.Content) > 0:
		return api.Errorf(api.KindBadRequest, "give text or content, not both")
	}
	if len(request.Content) > 0 {
		if err := checkBlocks(request.Content); err != nil {
			return err
		}
	}
	return checkText(Text(request), HasImage(request))
}

func checkText(text string, imageToo bool) error {
	switch {
	case strings.TrimSpace(text) == "" && !imageToo:
		return api.Errorf(api.KindBadRequest, "the prompt is empty: write something")
	case len(text) > api.MaxPrompt:
		return api.Errorf(api.KindTooLarge, "the prompt has %d bytes, the limit is %d: put it into a file and name the file", len(text), api.MaxPrompt)
	case !utf8.ValidString(text):
		return api.Errorf(api.KindBadRequest, "the prompt is not UTF-8")
	}
	return nil
}
