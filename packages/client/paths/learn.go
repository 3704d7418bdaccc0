package paths

import (
	"context"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Learning is the part of a connection that learns paths.
type Learning struct {
	Open    func(context.Context) (client.Transport, error) // another channel to the device
	Measure func(context.Context, []Path)                   // dials paths, which binds and measures
	Once    bool                                            // do not wait for changes
}

// Learn returns the Learn of a Config. It reads the paths from the device, gives them to save,
// and measures those that save returns.
func Learn(save func(reported []Path, proof *api.BindingProof) (unused []Path, err error)) func(context.Context, Learning) error {
	return func(ctx context.Context, l Learning) error {
		transport, err := l.Open(ctx)
		if err != nil {
			return err
		}
		changed := make(chan struct{}, 1)
		c := client.New(transport, func(event api.EventEnvelope) {
			if _, ok := event.Event.(api.PathsChanged); ok {
				select {
				case changed <- struct{}{}:
				default:
				}
			}
		})
		defer func() { _ = c.Close() }() // everything was received
		for {
			response, err := client.Call(ctx, c, api.ListPaths, api.Empty{})
			if err != nil {
				return err
			}
			unused, err := save(usable(response.Paths), response.Proof)
			if err != nil {
				return err
			}
			l.Measure(ctx, unused)
			if l.Once {
				return nil
			}
			select {
			case <-changed:
			case <-c.Done():
				return c.Err()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// usable returns the paths whose addresses can be dialed. A path is kept whatever its state is:
// the device's connection to a relay may return.
func usable(reported []api.Path) []Path {
	var list []Path
	for _, p := range reported {
		path := Path{Kind: Kind(p.Kind), URL: p.URL}
		if path.valid() {
			list = append(list, path)
		}
	}
	return list
}
