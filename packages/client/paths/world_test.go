package paths

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
)

var (
	local  = Path{Machine, "http://127.0.0.1:7411"}
	near   = Path{Network, "http://192.0.2.7:7411"}
	fast   = Path{Relay, "https://fast.example"}
	slow   = Path{Relay, "https://slow.example"}
	errOff = errors.New("nothing answers")
)

// network is a network of fake paths. A path that is up answers after its round trip.
type network struct {
	mu    sync.Mutex
	known []Known
	up    map[Path]time.Duration
	err   map[Path]error // why a path that is down fails at once; nil is silence
	open  []*pipe
	dials []Path
}

func newNetwork(known ...Known) *network {
	return &network{known: known, up: map[Path]time.Duration{}, err: map[Path]error{}}
}

func (n *network) set(p Path, trip time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up[p] = trip
}

// cut takes a path down and ends its channels.
func (n *network) cut(p Path, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.up, p)
	n.err[p] = err
	for _, c := range n.open {
		if c.path == p {
			c.end(errOff)
		}
	}
}

func (n *network) paths() ([]Known, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.known), nil
}

func (n *network) dial(ctx context.Context, p Path) (*Channel, error) {
	n.mu.Lock()
	n.dials = append(n.dials, p)
	trip, up := n.up[p]
	err := n.err[p]
	n.mu.Unlock()
	switch {
	case up:
		if !pause(ctx, trip, nil) {
			return nil, ctx.Err()
		}
	case err != nil:
		return nil, err
	default:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c := &pipe{path: p, messages: make(chan []byte, 16), done: make(chan struct{})}
	n.mu.Lock()
	n.open = append(n.open, c)
	n.mu.Unlock()
	return &Channel{Transport: c, RoundTrip: trip, Open: func(context.Context) (client.Transport, error) { return nil, errOff }}, nil
}

// live returns the paths of the channels that are open.
func (n *network) live() []Path {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []Path
	for _, c := range n.open {
		select {
		case <-c.done:
		default:
			list = append(list, c.path)
		}
	}
	return list
}

func (n *network) device(change func(*Config)) *Device {
	cfg := Config{Known: n.paths, Dial: n.dial}
	if change != nil {
		change(&cfg)
	}
	return New(cfg)
}

// pipe is a channel that a test writes to.
type pipe struct {
	path     Path
	messages chan []byte
	done     chan struct{}
	once     sync.Once
	err      error
}

func (p *pipe) end(err error) { p.once.Do(func() { p.err = err; close(p.done) }) }

func (p *pipe) Send(context.Context, []byte) error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

func (p *pipe) Receive(ctx context.Context) ([]byte, error) {
	select {
	case m := <-p.messages:
		return m, nil
	case <-p.done:
		return nil, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipe) Close() error { p.end(errors.New("closed")); return nil }

func bound(p Path, trip time.Duration) Known { return Known{Path: p, RoundTrip: trip, Bound: true} }

func mustDial(t *testing.T, dial func(context.Context) (client.Transport, error)) *Link {
	t.Helper()
	transport, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return transport.(*Link)
}
