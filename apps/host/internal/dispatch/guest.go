package dispatch

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A guest sees the transcript of its session. What the log holds for the model only, such as
// instructions, skills and the environment of the project's folder, is left out, and so is
// what the summary says about the machine.

// contextOnly lists the entries that no transcript shows.
func contextOnly() []string {
	return []string{session.CustomInstructions, session.CustomSkills, session.CustomEnvironment, session.CustomAgent}
}

// GuestSummary returns the part of a summary that a guest sees.
func GuestSummary(s api.SessionSummary) api.SessionSummary {
	return api.SessionSummary{
		ID: s.ID, Name: s.Name, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, MessageCount: s.MessageCount,
		Running: s.Running, WaitingApproval: s.WaitingApproval, WaitingAnswer: s.WaitingAnswer,
		Model: s.Model, Mode: s.Mode,
	}
}

// GuestEntries returns the entries as a guest sees them. Those of the model's context keep
// their places in the tree and lose their data.
func GuestEntries(entries []session.Entry) []session.Entry {
	hidden := contextOnly()
	hides := func(e session.Entry) bool { return slices.Contains(hidden, e.CustomType) }
	if !slices.ContainsFunc(entries, hides) {
		return entries
	}
	entries = slices.Clone(entries)
	kept := entries[:0]
	for _, e := range entries {
		if !hides(e) {
			kept = append(kept, e)
		} else if empty, err := emptied(e); err == nil {
			kept = append(kept, empty)
		}
	}
	return kept
}

// emptied returns an entry without its data.
func emptied(e session.Entry) (session.Entry, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(e.Raw, &fields); err != nil {
		return e, err
	}
	kept := map[string]json.RawMessage{"data": json.RawMessage("{}")}
	for _, name := range []string{"type", "id", "parentId", "timestamp", "seq", "customType"} {
		if value, ok := fields[name]; ok {
			kept[name] = value
		}
	}
	line, err := json.Marshal(kept)
	if err != nil {
		return e, err
	}
	return session.ParseEntry(line)
}

// GuestEvents returns the events of a session as a guest sees them.
func GuestEvents(envelopes []api.EventEnvelope) []api.EventEnvelope {
	seen := make([]api.EventEnvelope, 0, len(envelopes))
	for _, envelope := range envelopes {
		seen = append(seen, guestEvent(envelope))
	}
	return seen
}

func guestEvent(envelope api.EventEnvelope) api.EventEnvelope {
	switch e := envelope.Event.(type) {
	case api.EntryAppended:
		if slices.Contains(contextOnly(), e.Entry.CustomType) {
			if empty, err := emptied(e.Entry); err == nil {
				envelope.Event = api.EntryAppended{Entry: empty}
			}
		}
	case api.SessionUpdated:
		envelope.Event = api.SessionUpdated{Session: GuestSummary(e.Session)}
	}
	return envelope
}

// forGuest returns an event as a guest sees it, with its encoding; false if it cannot be
// encoded.
func forGuest(envelope api.EventEnvelope, encoded []byte) (api.EventEnvelope, []byte, bool) {
	switch e := envelope.Event.(type) {
	case api.SessionUpdated:
	case api.EntryAppended:
		if !slices.Contains(contextOnly(), e.Entry.CustomType) {
			return envelope, encoded, true
		}
	default:
		return envelope, encoded, true
	}
	envelope = guestEvent(envelope)
	encoded, err := api.EncodeEvent(envelope)
	return envelope, encoded, err == nil
}
