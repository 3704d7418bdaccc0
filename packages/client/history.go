package client

import (
	"context"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Sessions returns the sessions selected by a request, newest first, reading page
// by page; a limit of 0 means all. A session that changes in the meantime is listed
// once.
func Sessions(ctx context.Context, c *Client, request api.ListSessionsRequest) ([]api.SessionSummary, error) {
	list, seen, limit := []api.SessionSummary{}, map[string]bool{}, request.Limit
	request.Limit = api.MaxSessions
	for {
		if limit > 0 {
			request.Limit = min(limit-len(list), api.MaxSessions)
		}
		page, err := Call(ctx, c, api.ListSessions, request)
		if err != nil {
			return nil, fmt.Errorf("listing the sessions: %w", err)
		}
		for _, s := range page.Sessions {
			if !seen[s.ID] && (limit == 0 || len(list) < limit) { // an older host returns all at once
				seen[s.ID] = true
				list = append(list, s)
			}
		}
		if page.Next == "" || page.Next == request.After || limit > 0 && len(list) == limit {
			return list, nil
		}
		request.After = page.Next
	}
}

// Earlier returns the entries of a session's log before a cursor from the host, in
// order, back to its beginning. With after it stops once it has all entries after
// that seq, and may return some more.
func Earlier(ctx context.Context, c *Client, sessionID string, before, after uint64) ([]session.Entry, error) {
	var pages [][]session.Entry
	for before > after+1 {
		r, err := Call(ctx, c, api.GetEntries, api.GetEntriesRequest{SessionID: sessionID, Before: before})
		if err != nil {
			return nil, fmt.Errorf("reading the earlier entries of the session: %w", err)
		}
		if r.Before >= before {
			return nil, fmt.Errorf("reading the earlier entries of the session: the host's answers make no progress (%d after %d)", r.Before, before)
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
