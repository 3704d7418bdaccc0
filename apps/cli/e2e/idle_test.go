//go:build unix

package e2e

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// addresses is how many source addresses the hosts share: the limits per
	// address stay those of a real relay.
	addresses = 250
	// dialing is how many hosts log in at once at the start.
	dialing = 64
)

// idle is hosts that are connected and do nothing.
type idle struct {
	count int

	mu        sync.Mutex
	connected int
	logins    []time.Time
	failures  int // tries that did not end in a login
}

// startIdle connects hosts, each on a link that dials again for ever as a real
// host's does. They end with the test.
func startIdle(t *testing.T, relayURL string, count int) *idle {
	t.Helper()
	d := &idle{count: count}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	clients := make([]*http.Client, addresses)
	for i := range clients {
		clients[i] = clientFrom(net.IPv4(127, 0, 1, byte(i+1)))
	}
	slots := make(chan struct{}, dialing)
	for i := range count {
		slots <- struct{}{}
		admitted := sync.OnceFunc(func() { <-slots })
		cfg := relayconn.Config{
			RelayURL: relayURL, Keys: relaytest.NewKeys(t, ident.KindDevice), Label: "idle", HTTPClient: clients[i%addresses],
		}
		running.Go(func() {
			_ = relayconn.Keep(ctx, cfg, func(s relayconn.State) { // it ends with ctx
				d.report(s)
				admitted()
			}, d.serve)
			admitted()
		})
	}
	d.await(t, count, 2*time.Minute)
	return d
}

func clientFrom(ip net.IP) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
}

func (d *idle) serve(ctx context.Context, c *relayconn.Conn) error {
	err := c.Run(ctx, quiet{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connected--
	return err
}

func (d *idle) report(s relayconn.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.Connected {
		d.connected++
		d.logins = append(d.logins, time.Now())
	} else {
		d.failures++
	}
}

// quiet is a host without requests.
type quiet struct{}

func (quiet) Control(wire.Frame)       {}
func (quiet) Records(uint32, [][]byte) {}

// seen returns the logins and the losses and failed tries so far.
func (d *idle) seen() (logins []time.Time, failures int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logins, d.failures
}

// await waits until there have been so many logins and all hosts are connected.
func (d *idle) await(t *testing.T, logins int, within time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(within); ; {
		d.mu.Lock()
		connected, so := d.connected, len(d.logins)
		d.mu.Unlock()
		if connected == d.count && so >= logins {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d hosts are connected after %s, with %d logins of %d", connected, d.count, within, so, logins)
		}
		<-time.After(20 * time.Millisecond)
	}
}
