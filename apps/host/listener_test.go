package host

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAHostEndsWithItsListener: if no direct connection can be accepted any more, Run ends
// the rest, returns why, and releases the home.
func TestAHostEndsWithItsListener(t *testing.T) {
	cfg := Config{Home: t.TempDir(), NoRelay: true, Getenv: func(string) string { return "" }}
	h, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(context.WithoutCancel(t.Context())) }()
	<-h.Ready()
	transport, err := client.DialDirect(t.Context(), h.State().Addr, h.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, nil)
	t.Cleanup(func() { _ = c.Close() })
	if _, err := client.Call(t.Context(), c, api.GetHost, api.Empty{}); err != nil {
		t.Fatal(err)
	}
	if err := h.listener.Listener.Close(); err != nil { // below the host, as a fault of the system
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the host ended with %v", err)
	}
	<-c.Done()
	if _, err := state.ReadRun(h.paths); err == nil {
		t.Error("the command line would still look for it")
	}
	again, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatalf("the home is still in use: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
