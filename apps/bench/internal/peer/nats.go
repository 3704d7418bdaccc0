package peer

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/scorel/scorel/apps/bench/internal/load"
)

// natsCore speaks to a NATS server with its Go client: a connection for each party,
// which subscribes to a subject of its own for each peer. The client's flusher joins
// what is published.
type natsCore struct{}

// Connect implements Protocol.
func (natsCore) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	toHost := func(entry int) string { return "bench.host." + strconv.Itoa(entry) }
	toEntry := func(entry int) string { return "bench.entry." + strconv.Itoa(entry) }
	return connectBoth(hosts, hosts*perHost,
		func(i int) (load.Endpoint, error) {
			var in, out []string
			for k := range perHost {
				in, out = append(in, toHost(i*perHost+k)), append(out, toEntry(i*perHost+k))
			}
			return dialNATS(t.HostAddr, in, out)
		},
		func(i int) (load.Endpoint, error) {
			return dialNATS(t.EntryAddr, []string{toEntry(i)}, []string{toHost(i)})
		})
}

// Idle implements Protocol: a party that can be reached, hence a subscription.
func (natsCore) Idle(_ context.Context, t Target, n int) (io.Closer, error) {
	subject := "bench.idle." + strconv.Itoa(n)
	e, err := dialNATS(t.HostAddr, []string{subject}, []string{subject})
	if err != nil {
		return nil, err
	}
	return keepIdle(e), nil
}

type natsEnd struct {
	nc     *nats.Conn
	out    []string // subjects by peer
	ready  chan struct{}
	closed chan struct{}
	once   sync.Once
	handle load.Handler
	failed chan error
}

func dialNATS(addr string, in, out []string) (load.Endpoint, error) {
	nc, err := nats.Connect("nats://"+addr, nats.Timeout(dialTimeout), nats.NoReconnect(), nats.NoEcho())
	if err != nil {
		return nil, fmt.Errorf("dialing the relay: %w", err)
	}
	e := &natsEnd{nc: nc, out: out, ready: make(chan struct{}), closed: make(chan struct{}), failed: make(chan error, 1)}
	for peer, subject := range in {
		sub, err := nc.Subscribe(subject, func(m *nats.Msg) { e.take(peer, m.Data) })
		if err == nil {
			err = sub.SetPendingLimits(-1, -1) // nothing is dropped at this end
		}
		if err != nil {
			nc.Close()
			return nil, fmt.Errorf("subscribing: %w", err)
		}
	}
	if err := nc.FlushTimeout(dialTimeout); err != nil { // the server knows the subscriptions
		nc.Close()
		return nil, fmt.Errorf("subscribing: %w", err)
	}
	return e, nil
}

func (e *natsEnd) take(peer int, payload []byte) {
	select {
	case <-e.ready:
	case <-e.closed:
		return
	}
	if err := e.handle(peer, payload); err != nil {
		select {
		case e.failed <- err:
		default: // the first counts
		}
	}
}

// Peers implements load.Endpoint.
func (e *natsEnd) Peers() int { return len(e.out) }

// Send implements load.Endpoint.
func (e *natsEnd) Send(peer int, payload []byte) error {
	err := e.nc.Publish(e.out[peer], payload)
	if e.nc.IsClosed() {
		return nil
	}
	return err
}

// Flush implements load.Endpoint: the client's flusher was woken by Publish.
func (e *natsEnd) Flush() error { return nil }

// Run implements load.Endpoint.
func (e *natsEnd) Run(handle load.Handler) error {
	e.handle = handle
	close(e.ready)
	select {
	case err := <-e.failed:
		return err
	case <-e.closed:
		return nil
	}
}

// Close implements load.Endpoint.
func (e *natsEnd) Close() error {
	e.once.Do(func() {
		close(e.closed)
		e.nc.Close()
	})
	return nil
}
