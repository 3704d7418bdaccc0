package feed

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Do sends a request over whatever connection there is, waits for one if there is none, and
// sends it again if the connection is lost before the answer, or if the session was moved to
// another device. Repeating the request must
// change nothing.
func Do[Request, Response any](ctx context.Context, f *Feed, to api.Definition[Request, Response], request Request) (Response, error) {
	return With(ctx, f, func(c *client.Client) (Response, error) { return client.Call(ctx, c, to, request) })
}

// With is Do for a function that sends requests of its own.
func With[Response any](ctx context.Context, f *Feed, send func(*client.Client) (Response, error)) (Response, error) {
	var none Response
	for {
		c, err := f.connected(ctx)
		if err != nil {
			return none, err
		}
		response, err := send(c)
		if _, moved := client.MovedTo(err); moved && ctx.Err() == nil && f.leave(err) {
			if err := f.replaced(ctx, c); err != nil {
				return none, err
			}
			continue
		}
		if !errors.Is(err, client.ErrLost) || ctx.Err() != nil {
			return response, err
		}
		if err := f.replaced(ctx, c); err != nil {
			return none, err
		}
	}
}

// connected waits for a connection.
func (f *Feed) connected(ctx context.Context) (*client.Client, error) {
	for {
		f.mu.Lock()
		c, failed, changed := f.client, f.failed, f.changed
		f.mu.Unlock()
		switch {
		case failed != nil:
			return nil, failed
		case c != nil:
			return c, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// replaced waits until a lost connection is no longer used.
func (f *Feed) replaced(ctx context.Context, lost *client.Client) error {
	for {
		f.mu.Lock()
		c, changed := f.client, f.changed
		f.mu.Unlock()
		if c != lost {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
