package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Spent keeps what an attempt cost whose message is not kept.
func (j journal) Spent(ctx context.Context, usage session.Usage) {
	err := j.s.do(ctx, func() {
		j.s.keepUsage(index.UsageAttempt, &session.Message{Provider: j.model.Provider, Model: j.model.ID, Usage: &usage})
		j.s.touch()
	})
	if err != nil {
		j.s.deps.Logger.Error("keeping what an attempt cost", "session", j.s.id, "error", err)
	}
}

// keepUsage notes what a call took that is no message of the log. Where the provider
// said nothing of it, nothing is noted. A disk that is full costs the note only.
func (s *Session) keepUsage(kind string, message *session.Message) {
	if message == nil || message.Usage == nil || *message.Usage == (session.Usage{}) || s.log == nil {
		return
	}
	raw, err := session.Encode(message.Usage)
	if err == nil {
		_, err = s.keep(store.Mark{}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return s.log.AppendUsage(ctx, mark, store.Usage{Kind: kind, Provider: message.Provider, Model: message.Model, Usage: raw})
		})
	}
	if err != nil {
		s.deps.Logger.Error("keeping what a call cost", "session", s.id, "kind", kind, "error", err)
	}
}

// countAttempts listens to a call for what its failed attempts cost.
func countAttempts(sum *session.Usage) func(agent.Delta) {
	return func(d agent.Delta) {
		if d.Kind == agent.DeltaReset {
			*sum = *plus(*sum, d.Usage)
		}
	}
}

// plus adds usages; nil is nothing.
func plus(a session.Usage, b *session.Usage) *session.Usage {
	if b == nil {
		return &a
	}
	a.Input += b.Input
	a.Output += b.Output
	a.CacheRead += b.CacheRead
	a.CacheWrite += b.CacheWrite
	a.TotalTokens += b.TotalTokens
	a.Cost.Input += b.Cost.Input
	a.Cost.Output += b.Cost.Output
	a.Cost.CacheRead += b.Cost.CacheRead
	a.Cost.CacheWrite += b.Cost.CacheWrite
	a.Cost.Total += b.Cost.Total
	a.Partial = a.Partial || b.Partial
	return &a
}
