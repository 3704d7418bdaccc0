//go:build unix

package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/chat/projection"
	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/api"
)

// pathWorld is a host behind two relays, in the local network and on the client's own machine,
// with one client that uses all of it. One goroutine owns it, but for what mu guards.
type pathWorld struct {
	*world
	t       *testing.T
	ctx     context.Context
	random  *rand.Rand
	lanes   []*lane // best first
	device  *paths.Device
	feed    *feed.Feed
	wake    chan struct{}
	running sync.WaitGroup
	answers sync.WaitGroup // requests under way

	session string
	state   projection.Session
	seq     uint64 // of the last event
	last    uint64 // of the last entry
	asked   map[string]bool
	used    paths.Path
	lost    bool // the connection was lost, and not moved

	connections, moves, approvals int
	taken                         map[string]int // connections by path

	mu  sync.Mutex
	won int // approvals that the client answered
}

// lane is a path with a proxy that can cut it.
type lane struct {
	path  paths.Path
	proxy *proxy.Proxy
	up    bool
}

func (l *lane) cut() { l.up = false; l.proxy.Cut() }
func (l *lane) heal() {
	if !l.up { // it would close connections
		l.up = true
		l.proxy.Heal()
	}
}

// newLane puts a proxy in front of an address.
func newLane(t *testing.T, kind paths.Kind, address string) *lane {
	p := proxy.New(t, proxy.TCP(address))
	return &lane{path: paths.Path{Kind: kind, URL: "http://" + p.Addr()}, proxy: p, up: true}
}

// slower makes a path count as a slow one, so that the order of the relays is certain.
const slower = 200 * time.Millisecond

func newPathWorld(t *testing.T, random *rand.Rand) *pathWorld {
	w := &pathWorld{world: &world{relayLogs: &logs{}, relayDir: t.TempDir(), home: t.TempDir()}, t: t, random: random, taken: map[string]int{}}
	first, second := relaytest.Start(t, freely), relaytest.Start(t, freely)
	near := relaytest.Start(t, freely) // a listener in the local network is a relay for one device
	w.relay = first
	w.startHost(t, first.URL, second.URL, near.URL)
	w.awaitRelays(t)
	e := w.pairEntry(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.ctx = ctx
	file := filepath.Join(t.TempDir(), "devices.json")
	err := devices.Add(file, devices.Device{ID: w.id, Public: w.paired(t, e).Public, Label: "desk", RelayURL: first.URL, PairedAt: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.lanes = []*lane{
		{path: paths.Direct, proxy: proxy.New(t, proxy.TCP(w.host.State().Addr)), up: true},
		newLane(t, paths.Network, hostOf(t, near.URL)),
		newLane(t, paths.Relay, hostOf(t, first.URL)),
		newLane(t, paths.Relay, hostOf(t, second.URL)),
	}
	cfg := w.pathConfig(t, e, file)
	w.learn(t, cfg)
	w.device = paths.New(cfg)
	w.startFeed(ctx)
	t.Cleanup(func() {
		cancel()
		w.running.Wait()
		w.answers.Wait()
		if err := w.device.Close(); err != nil {
			t.Error(err)
		}
	})
	w.until("a connection", func() bool { return w.connections > 0 })
	return w
}

// freely lets one client log in and open channels as often as the test does.
func freely(cfg *relay.Config) {
	everything := relay.Rate{Burst: 1 << 20, Every: time.Microsecond}
	cfg.Limits.Logins, cfg.Limits.Opens = everything, everything
	cfg.Limits.AddressOpens, cfg.Limits.IdentityOpens, cfg.Limits.AllOpens = everything, everything, everything
}

func (w *pathWorld) pathConfig(t *testing.T, e *entry, file string) paths.Config {
	stored := func() devices.Device {
		list, err := devices.Load(file)
		if err != nil || len(list) != 1 {
			t.Errorf("the device is lost: %v", err)
			return devices.Device{}
		}
		return list[0]
	}
	dialer := &paths.Dialer{
		Keys: e.keys, Label: "paths", Device: w.id, Seal: e.pin, Name: "desk",
		Proof: func() *api.BindingProof { return (*api.BindingProof)(stored().Binding) },
		Local: func(ctx context.Context) (client.Transport, error) {
			return client.DialDirect(ctx, w.lanes[0].proxy.Addr(), w.host.State().Token)
		},
	}
	return paths.Config{
		Known: func() ([]paths.Known, error) {
			var list []paths.Known
			for i, l := range w.lanes {
				list = append(list, paths.Known{Path: l.path, RoundTrip: time.Duration(i) * slower, Bound: true})
			}
			return list, nil
		},
		Dial: func(ctx context.Context, p paths.Path) (*paths.Channel, error) {
			channel, err := dialer.Dial(ctx, p)
			if err == nil {
				channel.RoundTrip = time.Duration(w.rank(p)) * slower
			}
			return channel, err
		},
		Pace: paths.Pace{Watch: 20 * time.Millisecond, Quiet: 10 * time.Millisecond, Steady: time.Millisecond},
		Learn: paths.Learn(func(reported []paths.Path, proof *api.BindingProof) ([]paths.Path, error) {
			return devices.Learn(file, w.id, reported, (*devices.Binding)(proof))
		}),
	}
}

// awaitRelays waits until the host is connected to all of its relays.
func (w *pathWorld) awaitRelays(t *testing.T) {
	t.Helper()
	transport, err := client.DialDirect(t.Context(), w.host.State().Addr, w.host.State().Token)
	if err != nil {
		t.Fatal(err)
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
	away := func(p api.Path) bool { return p.State != api.PathConnected }
	for slices.ContainsFunc(ask(t, c, api.ListPaths, api.Empty{}).Paths, away) {
		select {
		case <-changed:
		case <-time.After(patience):
			t.Fatal("the host is not connected to its relays")
		}
	}
}

// learn reads the paths over the first relay, which has the second one store the pairing.
func (w *pathWorld) learn(t *testing.T, cfg paths.Config) {
	t.Helper()
	dial := func(ctx context.Context, p paths.Path) *paths.Channel {
		channel, err := cfg.Dial(ctx, p)
		if err != nil {
			t.Fatalf("dialing %s: %v", p, err)
		}
		return channel
	}
	first := dial(w.ctx, w.lanes[2].path)
	defer first.Transport.Close()
	err := cfg.Learn(w.ctx, paths.Learning{Open: first.Open, Once: true, Measure: func(ctx context.Context, list []paths.Path) {
		for _, p := range list {
			_ = dial(ctx, p).Transport.Close()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func hostOf(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := net.SplitHostPort(u.Host); err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func isAPI(err error, refused **api.Error) bool { return errors.As(err, refused) }
