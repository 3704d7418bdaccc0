package agent

import (
	"context"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// callModel makes one model call and keeps its message. kept is false when there
// was nothing to keep. A call whose prompt is too long is made again with less, as
// long as there is something to leave out.
func (r *runner) callModel(ctx context.Context) (message session.Message, kept bool, err error) {
	r.emit(api.MessageStarted{})
	if r.makeRoom(ctx); ctx.Err() != nil {
		return r.unanswered(ctx, session.Message{})
	}
	for {
		r.room.overflow = ""
		message = r.tidy(ctx, r.Model.Stream(ctx, r.request(), r.delta))
		r.spend(ctx)
		if message.StopReason != session.StopError || r.room.overflow == "" {
			break
		}
		if !r.shorten(ctx) {
			if ctx.Err() != nil {
				return r.unanswered(ctx, message)
			}
			r.room.explain(&message)
			break
		}
		r.waste(message.Usage)
		if r.emit(api.MessageReset{Reason: r.room.overflow}); ctx.Err() != nil {
			return r.unanswered(ctx, session.Message{})
		}
	}
	if len(message.Content) == 0 && message.StopReason == session.StopAborted {
		return r.unanswered(ctx, message)
	}
	return message, true, r.append(ctx, message)
}

// unanswered ends a call that was canceled before any output worth keeping arrived.
func (r *runner) unanswered(ctx context.Context, message session.Message) (session.Message, bool, error) {
	r.waste(message.Usage)
	r.spend(ctx)
	r.emit(api.MessageReset{Reason: "canceled before the model answered"})
	message.StopReason, message.Content, message.ErrorMessage = session.StopAborted, nil, ""
	return message, false, nil
}

// waste notes what an attempt cost whose message is not kept.
func (r *runner) waste(usage *session.Usage) {
	if usage != nil && *usage != (session.Usage{}) {
		r.wasted = append(r.wasted, *usage)
	}
}

// spend hands over what was wasted.
func (r *runner) spend(ctx context.Context) {
	for _, usage := range r.wasted {
		if r.Spent != nil {
			r.Spent(context.WithoutCancel(ctx), usage)
		}
	}
	r.wasted = nil
}

// request is what the model sees now. Its beginning stays the same from call to
// call, so that providers find it in their caches.
func (r *runner) request() Request {
	return Request{
		System: r.System, Messages: r.seenImages(r.history.repaired()), Tools: r.specs, Thinking: r.Thinking, CacheKey: r.CacheKey,
		NoTools: r.last,
	}
}

// tidy makes a model's message fit for the log, whatever the provider did.
func (r *runner) tidy(ctx context.Context, m session.Message) session.Message {
	m.Role = session.RoleAssistant
	if m.Provider == "" {
		m.Provider = r.Provider
	}
	if m.Model == "" {
		m.Model = r.ModelID
	}
	if m.Usage == nil {
		m.Usage = &session.Usage{}
	}
	if m.Timestamp == 0 {
		m.Timestamp = time.Now().UnixMilli()
	}
	m.Content = tidyContent(m.Content, r.ids)
	calls := len(m.Content.ToolCalls())
	switch m.StopReason {
	case session.StopAborted, session.StopLength:
	case session.StopError:
		if ctx.Err() != nil { // it failed because it was canceled
			m.StopReason, m.ErrorMessage = session.StopAborted, ""
		}
	default:
		m.StopReason = session.StopEnd
		if calls > 0 {
			m.StopReason = session.StopToolUse
		}
	}
	return m
}

// delta turns a piece of a model's message into an event.
func (r *runner) delta(d Delta) {
	switch d.Kind {
	case DeltaStart:
		r.emit(api.BlockStarted{Index: d.Index, Block: d.Block, ID: d.ID, Name: d.Name})
	case DeltaText:
		r.emit(api.BlockDelta{Index: d.Index, Delta: d.Text})
	case DeltaReset:
		r.waste(d.Usage)
		r.emit(api.MessageReset{Reason: d.Text, Retry: d.Retry})
	case DeltaOverflow:
		r.room.overflow = d.Text
	}
}
