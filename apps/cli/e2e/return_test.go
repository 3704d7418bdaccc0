//go:build unix

package e2e

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
)

// logins counts the connections to relays.
type logins struct{ atomic.Int64 }

func (l *logins) RoundTrip(r *http.Request) (*http.Response, error) {
	l.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// TestAClientReturnsWithItsHost: a host is replaced, and its client is back because the relay
// reported the host, not because a pause was over: each pause lasts an hour here. The relay sees
// no other login.
func TestAClientReturnsWithItsHost(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	seen := &logins{}
	standby := client.NewStandby(w.id)
	dialer := &paths.Dialer{
		AgainTimeout: time.Minute, // on a busy machine too, no other login follows
		Keys:         e.keys, Label: "return", Device: w.id, Seal: e.pin, Name: "desk", Standby: standby, HTTPClient: &http.Client{Transport: seen},
	}
	known := []paths.Known{{Path: paths.Path{Kind: paths.Relay, URL: w.relay.URL}, Bound: true}}
	device := paths.New(paths.Config{
		Known: func() ([]paths.Known, error) { return known, nil }, Dial: dialer.Dial, Standby: standby,
	})
	wake := make(chan struct{}, 1)
	f := feed.New(feed.Config{
		Dial: device.Keep, Lost: func(error) bool { return true },
		Wait: func(ctx context.Context, _ time.Duration) error { return device.Wait(ctx, time.Hour) },
		Notify: func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		},
	}, "")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	})
	timeout := time.After(patience)
	// next waits for the next report of the connection.
	var updates []feed.Update
	next := func() feed.Update {
		t.Helper()
		for {
			for len(updates) > 0 {
				first := updates[0]
				updates = updates[1:]
				switch first.(type) {
				case feed.Connected, feed.Disconnected:
					return first
				}
			}
			select {
			case <-wake:
				updates = f.Take()
			case <-timeout:
				t.Fatal("nothing happened")
			}
		}
	}
	for i := range 3 {
		if u, ok := next().(feed.Connected); !ok {
			t.Fatalf("replacement %d: got %+v", i, u)
		}
		w.stopHost()
		if u, ok := next().(feed.Disconnected); !ok {
			t.Fatalf("replacement %d: got %+v", i, u)
		}
		w.startHost(t, w.relay.URL)
	}
	if u, ok := next().(feed.Connected); !ok {
		t.Fatalf("at the end: got %+v", u)
	}
	if n := seen.Load(); n != 1 {
		t.Errorf("the client logged in %d times", n)
	}
}
