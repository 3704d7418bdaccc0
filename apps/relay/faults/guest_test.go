//go:build unix

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// guest is a peer beside the fleet. It reads all the time, as clients do: nodes ping
// it however long the test is busy with something else.
type guest struct {
	*relaytest.Raw
	heard chan wire.Frame // closed when the connection ends
}

// login logs in at an address, and tries again as clients do: a busy node may be late.
func login(t testing.TB, address string, keys *ident.Private, label string) *guest {
	t.Helper()
	g := &guest{heard: make(chan wire.Frame, 1024)} // more than any receives
	var err error
	wait(t, "the login of "+label, func() bool {
		if err != nil {
			t.Logf("the login of %s: %v", label, err)
		}
		g.Raw, err = relaytest.DialRaw(new(net.Dialer), address, keys, label)
		return err == nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() { g.read(ctx) })
	t.Cleanup(func() { cancel(); g.Close(); reading.Wait() })
	return g
}

func (g *guest) read(ctx context.Context) {
	defer close(g.heard)
	for {
		f, _, err := g.Next()
		if err != nil {
			return
		}
		if f == nil {
			continue // records
		}
		select {
		case g.heard <- f:
		case <-ctx.Done():
			return
		}
	}
}

// await returns the next frame of type F, or the error that the node answers with
// instead. errLost means that the connection is gone, which a busy machine can do.
func await[F any](g *guest) (*F, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		select {
		case f, open := <-g.heard:
			if !open {
				return nil, errLost
			}
			if got, ok := any(f).(*F); ok {
				return got, nil
			}
			if refusal, ok := f.(*wire.ErrorFrame); ok {
				return nil, &wire.Error{Kind: refusal.Kind, Message: refusal.Message}
			}
		case <-deadline.C:
			return nil, fmt.Errorf("waited %s for %T", patience, (*F)(nil))
		}
	}
}

// ask sends a request and awaits its answer.
func ask[F any](g *guest, request wire.Frame) (*F, error) {
	if err := g.Send(request); err != nil {
		return nil, errLost
	}
	return await[F](g)
}

// kindOf is the kind of a refusal, or KindUnknown for another error.
func kindOf(err error) wire.Kind {
	if refusal := (*wire.Error)(nil); errors.As(err, &refusal) {
		return refusal.Kind
	}
	return wire.KindUnknown
}

// open opens a channel to a host and tries again as clients do: that the host is there
// may not be known everywhere yet. It tells whether both stayed connected.
func (g *guest) open(t testing.TB, host *guest) bool {
	t.Helper()
	var err error
	wait(t, "a channel to open", func() bool {
		_, err = ask[wire.ChannelOpened](g, &wire.OpenChannel{RequestID: "open", DeviceID: host.ID})
		return err == nil || errors.Is(err, errLost)
	})
	if err == nil {
		_, err = await[wire.ChannelOpened](host)
	}
	if err != nil && !errors.Is(err, errLost) {
		t.Fatalf("the host was not notified of a channel: %v", err)
	}
	return err == nil
}
