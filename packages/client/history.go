package client

import (
	"context"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Earlier returns the entries of a session's log before a cursor that the host gave,
// in order, back to its beginning. With after it stops once all that follow that seq
// are there, and may return some more.
func Earlier(ctx context.Context, c *Client, sessionID string, before, after uint64) ([]session.Entry, error) {
	var pages [][]session.Entry
	for before > after+1 {
		r, err := Call[api.GetEntriesResponse](ctx, c, "get_entries", api.GetEntriesRequest{SessionID: sessionID, Before: before})
		if err != nil {
			return nil, fmt.Errorf("reading the earlier entries of the session: %w", err)
		}
		if r.Before >= before {
			return nil, fmt.Errorf("reading the earlier entries of the session: the host's answer leads nowhere (%d after %d)", r.Before, before)
		}
		pages = append(pages, r.Entries)
		before = r.Before
	}
	var entries []session.Entry
	for i := range pages {
		entries = append(entries, pages[len(pages)-1-i]...)
	}
	return entries, nil
}
