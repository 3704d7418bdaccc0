package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// appendUsage records the usage of a call whose message is not in the log. It records nothing
// if the provider reported nothing. On a full disk only the record is lost.
func (c *core) appendUsage(kind string, message *session.Message) {
	if message == nil || message.Usage == nil || *message.Usage == (session.Usage{}) || c.log == nil {
		return
	}
	raw, err := session.Encode(message.Usage)
	if err == nil {
		_, err = c.append(store.Mark{}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return c.log.AppendUsage(ctx, mark, store.Usage{Kind: kind, Provider: message.Provider, Model: message.Model, Usage: raw})
		})
	}
	if err != nil {
		c.logger.Error("storing the usage of a call", "session", c.id, "kind", kind, "error", err)
	}
}

// countAttempts listens to a call for what its failed attempts cost.
func countAttempts(sum *session.Usage) func(agent.Delta) {
	return func(d agent.Delta) {
		if d.Kind == agent.DeltaReset {
			*sum = sum.Plus(d.Usage)
		}
	}
}
