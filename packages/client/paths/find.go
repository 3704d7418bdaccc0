package paths

import (
	"context"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/mdns"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// findAgain is the least time between two searches for a device: a client that reconnects must
// not fill the local network with questions.
const findAgain = 10 * time.Second

// Finder returns the Find of a Config: it looks for a device that announces itself on the local
// network. Anything can answer there, so that the paths are only ones to try.
func Finder(n mdns.Network, device ident.ID) func(context.Context) []Path {
	var (
		mu   sync.Mutex
		last time.Time
	)
	return func(ctx context.Context) []Path {
		mu.Lock()
		defer mu.Unlock()
		if !last.IsZero() && time.Since(last) < findAgain {
			return nil
		}
		last = time.Now()
		found, err := mdns.Find(ctx, n, device)
		if err != nil {
			return nil // the failures of the known paths say what to do
		}
		return Announced(found)
	}
}

// Announced returns the paths that a search found.
func Announced(found []mdns.Found) []Path {
	list := make([]Path, 0, len(found))
	for _, f := range found {
		list = append(list, Path{Kind: Network, URL: "http://" + f.Address.String()})
	}
	return list
}
