package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Resync subscribes and hands reply what brings the entry up to date, before any
// later event is delivered. answers are the grants with which someone who watches
// can answer the agent; none for a program.
func (c *core) Resync(ctx context.Context, anchors api.Anchors, subscriber Subscriber, answers []api.Grant, reply func(api.ResyncEventsResponse)) error {
	err := c.do(ctx, func() {
		reply(c.resync(anchors))
		c.subscribers[subscriber] = answers
		c.updateAttendance()
	})
	return clientError(err)
}

// Unsubscribe ends a subscription, even if ctx ends: a subscriber that stays keeps the session
// from sleeping.
func (c *core) Unsubscribe(ctx context.Context, subscriber Subscriber) {
	_ = c.ask(context.WithoutCancel(ctx), func() { // a closed session has none
		delete(c.subscribers, subscriber)
		c.updateAttendance()
	})
}

func (c *core) resync(from api.Anchors) api.ResyncEventsResponse {
	last := c.log.LastSeq()
	response := api.ResyncEventsResponse{
		Mode:    api.ResyncFull,
		Session: c.others.withSubagents(c.summary),
		Entries: []session.Entry{},
		Events:  []api.EventEnvelope{},
		Live:    c.live.Clone(),
		Anchors: api.Anchors{Epoch: c.epoch, PersistentLastSeq: last, StreamLastSeq: c.seq},
	}
	if events, complete := c.missed(from); complete {
		response.Mode, response.Events = api.ResyncStream, events
		return response
	}
	entries := c.log.Tree().Entries()
	if from.Epoch != "" && from.PersistentLastSeq <= last {
		missed := entries[window.FirstAfter(entries, from.PersistentLastSeq):]
		if sent, before := c.view.Last(missed, api.WindowEntries); before == 0 {
			response.Mode, response.Entries = api.ResyncPersistent, sent
			return response
		}
	}
	response.Entries, response.Before = c.view.Last(entries, api.WindowEntries)
	return response
}

// Summary returns the session's line for a list.
func (c *core) Summary(ctx context.Context) (summary api.SessionSummary, err error) {
	err = c.ask(ctx, func() { summary = c.others.withSubagents(c.summary) })
	return summary, clientError(err)
}
