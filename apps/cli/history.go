package cli

import (
	"context"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// loadLog requests a session with its whole log from a host; images are referenced by hash.
func loadLog(ctx context.Context, c *client.Client, id string) (api.ResyncEventsResponse, error) {
	response, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	if err != nil {
		return response, err
	}
	earlier, err := client.Earlier(ctx, c, id, response.Before, 0)
	response.Entries, response.Before = append(earlier, response.Entries...), 0
	return response, err
}

// loadSession is loadLog including the images.
func loadSession(ctx context.Context, c *client.Client, id string) (api.ResyncEventsResponse, error) {
	response, err := loadLog(ctx, c, id)
	if err == nil {
		response.Entries, err = client.WithImages(ctx, c, id, response.Entries)
	}
	return response, err
}
