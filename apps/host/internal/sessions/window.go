package sessions

import (
	"context"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// window returns the last entries of a list that fit one answer, as they are sent:
// at most limit of them, and at least one. before is the seq that the next window
// ends at; 0 where nothing lies before this one.
func window(entries []session.Entry, limit int) (sent []session.Entry, before uint64) {
	size, first := 0, len(entries)
	for first > 0 && len(entries)-first < limit {
		length := sentSize(entries[first-1])
		if first < len(entries) && size+length > api.WindowBytes {
			break
		}
		size += length
		first--
	}
	if first > 0 && first < len(entries) {
		before = entries[first].Seq
	}
	return sendAll(entries[first:]), before
}

// sendAll returns entries as they are sent, without those that are none.
func sendAll(entries []session.Entry) []session.Entry {
	sent := make([]session.Entry, 0, len(entries))
	for _, entry := range entries {
		if entry = sendable(entry); entry.Raw != nil {
			sent = append(sent, entry)
		}
	}
	return sent
}

// sendable returns what is sent of an entry: itself; a custom entry in its place
// where it is too long; nothing, with a nil Raw, where its line is no entry, as in
// a damaged file.
func sendable(entry session.Entry) session.Entry {
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

// firstAfter returns the index of the first entry with a larger seq.
func firstAfter(entries []session.Entry, seq uint64) int {
	i, found := slices.BinarySearchFunc(entries, seq, func(e session.Entry, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	})
	if found {
		i++
	}
	return i
}

// Resync subscribes and hands reply what brings the entry up to date, before any
// later event is delivered. answers are the grants with which somebody who sits there
// can answer the agent; none for a program.
func (s *Session) Resync(ctx context.Context, anchors api.Anchors, subscriber Subscriber, answers []api.Grant, reply func(api.ResyncEventsResponse)) error {
	err := s.do(ctx, func() {
		reply(s.resync(anchors))
		s.subscribers[subscriber] = answers
		s.attend()
	})
	return refuse(err)
}

// Unsubscribe ends a subscription.
func (s *Session) Unsubscribe(ctx context.Context, subscriber Subscriber) {
	_ = s.ask(ctx, func() { // a closed session has none
		delete(s.subscribers, subscriber)
		s.attend()
	})
}

func (s *Session) resync(from api.Anchors) api.ResyncEventsResponse {
	last := s.log.LastSeq()
	response := api.ResyncEventsResponse{
		Mode:    api.ResyncFull,
		Session: s.deps.account(s.summary),
		Entries: []session.Entry{},
		Events:  []api.EventEnvelope{},
		Live:    s.live.Clone(),
		Anchors: api.Anchors{Epoch: s.epoch, PersistentLastSeq: last, StreamLastSeq: s.seq},
	}
	if from.Epoch == s.epoch {
		if events, complete := s.ring.after(from.StreamLastSeq, s.seq+1); complete {
			response.Mode, response.Events = api.ResyncStream, events
			return response
		}
	}
	entries := s.log.Tree().Entries()
	if from.Epoch != "" && from.PersistentLastSeq <= last {
		missed := entries[firstAfter(entries, from.PersistentLastSeq):]
		if sent, before := window(missed, api.WindowEntries); before == 0 {
			response.Mode, response.Entries = api.ResyncPersistent, sent
			return response
		}
	}
	response.Entries, response.Before = window(entries, api.WindowEntries)
	return response
}

// Summary returns the session's line for a list.
func (s *Session) Summary(ctx context.Context) (summary api.SessionSummary, err error) {
	err = s.ask(ctx, func() { summary = s.deps.account(s.summary) })
	return summary, refuse(err)
}
