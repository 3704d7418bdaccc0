package window

import (
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// AllSendable returns entries as they are sent, without those that are none.
func AllSendable(entries []session.Entry) []session.Entry {
	sent := make([]session.Entry, 0, len(entries))
	for _, entry := range entries {
		if entry = Sendable(entry); entry.Raw != nil {
			sent = append(sent, entry)
		}
	}
	return sent
}

// Sendable returns what is sent of an entry: itself; a custom entry in its place
// where it is too long; nothing, with a nil Raw, where its line is no entry, as in
// a damaged file.
func Sendable(entry session.Entry) session.Entry {
	if len(entry.Raw) > api.MaxEntryBytes {
		return omitted(entry)
	}
	if !entry.Strict() {
		return session.Entry{}
	}
	return entry
}

func omitted(entry session.Entry) session.Entry {
	data, err := session.Encode(session.OmittedRecord{Type: entry.Type, Bytes: len(entry.Raw)})
	if err != nil {
		return session.Entry{}
	}
	stand := session.CustomEntry{
		Type: session.TypeCustom, CustomType: session.CustomOmitted, Data: data,
		ID: entry.ID, Timestamp: entry.Timestamp, Seq: entry.Seq,
	}
	if entry.ParentID != "" {
		stand.ParentID = &entry.ParentID
	}
	line, err := session.Encode(stand)
	if err != nil {
		return session.Entry{}
	}
	short, err := session.ParseEntry(line)
	if err != nil { // it has no id
		return session.Entry{}
	}
	return short
}
