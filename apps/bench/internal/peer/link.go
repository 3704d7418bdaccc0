package peer

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/scorel/scorel/apps/bench/internal/load"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// linked speaks to our relay with packages/client/relayconn, without a seal: what it
// lacks to sealed is the seal's price, what it lacks to scorel is the library's.
type linked struct{}

// Connect implements Protocol.
func (linked) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	return connectBoth(hosts, hosts*perHost,
		func(i int) (load.Endpoint, error) { return dialLink(ctx, t.HostAddr, t.Parties.Hosts[i], perHost, nil) },
		func(i int) (load.Endpoint, error) {
			device := t.Parties.Host(i).ID()
			return dialLink(ctx, t.EntryAddr, t.Parties.Entry(i), 1, &device)
		})
}

// Idle implements Protocol.
func (linked) Idle(ctx context.Context, t Target, n int) (io.Closer, error) {
	e, err := dialLink(ctx, t.HostAddr, t.Parties.Hosts[n], 0, nil)
	if err != nil {
		return nil, err
	}
	return keepIdle(e), nil
}

// linkEnd is one logged-in connection. It implements relayconn.Handler.
type linkEnd struct {
	conn   *relayconn.Conn
	cancel context.CancelFunc
	ended  chan struct{} // the link's Run has returned
	err    error         // why, once it has
	closed atomic.Bool

	opened chan uint32 // holds as many channels as will come
	ready  chan struct{}
	done   <-chan struct{} // of the context that Close cancels

	// Set before ready is closed.
	channels []uint32
	peers    map[uint32]int
	handle   load.Handler

	failed error // owned by the reader
}

func dialLink(ctx context.Context, addr string, keys *ident.Private, channels int, open *ident.ID) (load.Endpoint, error) {
	conn, err := relayconn.Dial(ctx, relayconn.Config{RelayURL: "http://" + addr, Keys: keys, Label: "bench"})
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(context.Background())
	e := &linkEnd{
		conn: conn, cancel: cancel, done: runCtx.Done(), ended: make(chan struct{}), opened: make(chan uint32, channels),
		ready: make(chan struct{}), peers: make(map[uint32]int, channels),
	}
	go func() {
		defer close(e.ended)
		e.err = conn.Run(runCtx, e)
	}()
	if open == nil {
		return e, nil
	}
	err = conn.Send(ctx, wire.OpenChannel{RequestID: "bench", DeviceID: *open})
	if err == nil {
		err = e.await(channels)
	}
	if err != nil {
		_ = e.Close() // the first error is the one to tell
		return nil, err
	}
	return e, nil
}

// await returns when n channels are open.
func (e *linkEnd) await(n int) error {
	for len(e.channels) < n {
		select {
		case channel := <-e.opened:
			e.peers[channel] = len(e.channels)
			e.channels = append(e.channels, channel)
		case <-e.ended:
			return fmt.Errorf("opening a channel: %w", e.err)
		}
	}
	return nil
}

// Control implements relayconn.Handler.
func (e *linkEnd) Control(frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.ChannelOpened:
		e.opened <- f.Channel
	case *wire.ErrorFrame:
		e.fail(&wire.Error{Kind: f.Kind, Message: f.Message})
	}
}

// Records implements relayconn.Handler.
func (e *linkEnd) Records(channel uint32, payloads [][]byte) {
	select {
	case <-e.ready:
	case <-e.done: // closed before Run
		return
	}
	peer := e.peers[channel]
	for _, payload := range payloads {
		if err := e.handle(peer, payload); err != nil {
			e.fail(err)
		}
	}
}

func (e *linkEnd) fail(err error) {
	if e.failed == nil {
		e.failed = err
		e.cancel()
	}
}

// Peers implements load.Endpoint.
func (e *linkEnd) Peers() int {
	if err := e.await(cap(e.opened)); err != nil {
		return len(e.channels) // Run tells why
	}
	return len(e.channels)
}

// Send implements load.Endpoint.
func (e *linkEnd) Send(peer int, payload []byte) error {
	err := e.conn.SendRecords(context.Background(), e.channels[peer], payload)
	if e.closed.Load() {
		return nil
	}
	return err
}

// Flush implements load.Endpoint: the link's writer was woken by Send.
func (e *linkEnd) Flush() error { return nil }

// Run implements load.Endpoint.
func (e *linkEnd) Run(handle load.Handler) error {
	e.Peers()
	e.handle = handle
	close(e.ready)
	<-e.ended
	if e.closed.Load() {
		return nil
	}
	if e.failed != nil {
		return e.failed
	}
	return e.err
}

// Close implements load.Endpoint.
func (e *linkEnd) Close() error {
	e.closed.Store(true)
	e.cancel()
	<-e.ended
	return nil
}
