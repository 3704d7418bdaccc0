package cli

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// discard deletes the session that the command created and whose first prompt the host
// refused with err, so that it does not clutter the list. The session is kept if it
// contains anything, or if this client may not delete it.
func (s *sending) discard(ctx context.Context, err error) {
	if s.begun == "" || !errors.As(err, new(*api.Error)) {
		return
	}
	c, err := s.to.connect(ctx)
	if err != nil {
		return // report the refusal
	}
	defer func() { _ = c.Close() }() // everything was received
	there, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.begun})
	if err != nil || there.Session.MessageCount > 0 || there.Live.Turn != nil {
		return
	}
	_, _ = client.Call(ctx, c, api.DeleteSession, api.SessionRequest{SessionID: s.begun}) // otherwise the empty session stays
}
