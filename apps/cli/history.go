package cli

import (
	"context"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// loadSession asks a host for a session with its whole log.
func loadSession(ctx context.Context, c *client.Client, id string) (api.ResyncEventsResponse, error) {
	response, err := client.Call[api.ResyncEventsResponse](ctx, c, "resync_events", api.ResyncEventsRequest{SessionID: id})
	if err != nil {
		return response, err
	}
	earlier, err := client.Earlier(ctx, c, id, response.Before, 0)
	response.Entries, response.Before = append(earlier, response.Entries...), 0
	return response, err
}
