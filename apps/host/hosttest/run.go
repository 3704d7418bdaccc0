package hosttest

import (
	"context"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host"
)

// Run runs a host until end is called, at the latest until the test ends, and returns once it is
// ready. A host that ends with an error fails the test.
func Run(t testing.TB, cfg host.Config) (h *host.Host, end func()) {
	t.Helper()
	h, err := host.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	t.Cleanup(end)
	<-h.Ready()
	return h, end
}
