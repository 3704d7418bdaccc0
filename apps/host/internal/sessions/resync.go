package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

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
		if events, complete := s.ring.After(from.StreamLastSeq, s.seq+1); complete {
			response.Mode, response.Events = api.ResyncStream, events
			return response
		}
	}
	entries := s.log.Tree().Entries()
	if from.Epoch != "" && from.PersistentLastSeq <= last {
		missed := entries[window.FirstAfter(entries, from.PersistentLastSeq):]
		if sent, before := window.Last(missed, api.WindowEntries); before == 0 {
			response.Mode, response.Entries = api.ResyncPersistent, sent
			return response
		}
	}
	response.Entries, response.Before = window.Last(entries, api.WindowEntries)
	return response
}

// Summary returns the session's line for a list.
func (s *Session) Summary(ctx context.Context) (summary api.SessionSummary, err error) {
	err = s.ask(ctx, func() { summary = s.deps.account(s.summary) })
	return summary, refuse(err)
}
