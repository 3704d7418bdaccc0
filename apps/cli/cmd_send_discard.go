package cli

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// discard deletes the session that the command began and whose first prompt the host
// refused with err: nobody wants it in the list. It stays where anything is in it, and
// where this client may not delete.
func (f *sendFlags) discard(ctx context.Context, err error) {
	if f.begun == "" || !errors.As(err, new(*api.Error)) {
		return
	}
	c, err := f.to.connect(ctx)
	if err != nil {
		return // what was refused is what is said
	}
	defer func() { _ = c.Close() }() // used to the end
	there, err := client.Call[api.ResyncEventsResponse](ctx, c, "resync_events", api.ResyncEventsRequest{SessionID: f.begun})
	if err != nil || there.Session.MessageCount > 0 || there.Live.Turn != nil {
		return
	}
	_, _ = client.Call[api.Empty](ctx, c, "delete_session", api.SessionRequest{SessionID: f.begun}) // the empty session stays, then
}
