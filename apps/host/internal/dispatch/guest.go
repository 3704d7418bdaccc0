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
	return []string{session.CustomInstructions, session.CustomSkills, session.CustomEnvironment, session.CustomMemory, session.CustomAgent}
}

// hiddenFromGuests reports whether an entry is for the model only. A note with instructions, a
// skill or a resource is one: what it has is as private as what the model got at the beginning.
func hiddenFromGuests(e session.Entry) bool {
	if e.CustomType != session.CustomNote {
		return slices.Contains(contextOnly(), e.CustomType)
	}
	var note struct {
		Details session.NoteRecord `json:"details"`
	}
	if err := json.Unmarshal(e.Raw, &note); err != nil {
		return true
	}
	switch note.Details.Kind {
	case session.NoteInstructions, session.NoteSkill, session.NoteSkills, session.NoteServer:
		return true
	}
	return false
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
	if !slices.ContainsFunc(entries, hiddenFromGuests) {
		return entries
	}
	entries = slices.Clone(entries)
	kept := entries[:0]
	for _, e := range entries {
		if !hiddenFromGuests(e) {
			kept = append(kept, e)
		} else if empty, err := emptied(e); err == nil {
			kept = append(kept, empty)
		}
	}
	return kept
}

// emptied returns an entry without its data. In place of a note, whose content would be shown,
// is an entry that no transcript shows.
func emptied(e session.Entry) (session.Entry, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(e.Raw, &fields); err != nil {
		return e, err
	}
	kept := map[string]json.RawMessage{"type": json.RawMessage(`"` + session.TypeCustom + `"`), "data": json.RawMessage("{}")}
	for _, name := range []string{"id", "parentId", "timestamp", "seq", "customType"} {
		if value, ok := fields[name]; ok {
			kept[name] = value
		}
	}
	if e.CustomType == session.CustomNote {
		kept["customType"] = json.RawMessage(`"` + session.CustomEnvironment + `"`)
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
		if part, err := guestEvent(envelope); err == nil {
			seen = append(seen, part)
		}
	}
	return seen
}

func guestEvent(envelope api.EventEnvelope) (api.EventEnvelope, error) {
	switch e := envelope.Event.(type) {
	case api.EntryAppended:
		if !hiddenFromGuests(e.Entry) {
			return envelope, nil
		}
		empty, err := emptied(e.Entry)
		envelope.Event = api.EntryAppended{Entry: empty}
		return envelope, err
	case api.SessionUpdated:
		envelope.Event = api.SessionUpdated{Session: GuestSummary(e.Session)}
	}
	return envelope, nil
}

// forGuest returns an event as a guest sees it, with its encoding; false if it cannot be
// encoded.
func forGuest(envelope api.EventEnvelope, encoded []byte) (api.EventEnvelope, []byte, bool) {
	switch e := envelope.Event.(type) {
	case api.SessionUpdated:
	case api.EntryAppended:
		if !hiddenFromGuests(e.Entry) {
			return envelope, encoded, true
		}
	default:
		return envelope, encoded, true
	}
	envelope, err := guestEvent(envelope)
	if err != nil {
		return envelope, nil, false
	}
	encoded, err = api.EncodeEvent(envelope)
	return envelope, encoded, err == nil
}
