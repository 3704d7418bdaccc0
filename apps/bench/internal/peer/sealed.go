package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/scorel/scorel/apps/bench/internal/load"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// sealed speaks to our relay as entries and hosts do: with packages/client, through
// the seal, one message for each record.
type sealed struct{}

// Connect implements Protocol.
func (sealed) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	return connectBoth(hosts, hosts*perHost,
		func(i int) (load.Endpoint, error) {
			clients := make(map[ident.ID]ident.SealPublic, perHost)
			for _, entry := range t.Parties.ClientsOf(i) {
				clients[entry.ID()] = entry.Public().Seal
			}
			return dialSealedHost(ctx, t.HostAddr, t.Parties.Hosts[i], perHost, clients)
		},
		func(i int) (load.Endpoint, error) {
			return dialSealedEntry(ctx, t.EntryAddr, t.Parties.Entry(i), t.Parties.Host(i))
		})
}

// Idle implements Protocol.
func (sealed) Idle(ctx context.Context, t Target, n int) (io.Closer, error) {
	h, err := dialSealedHost(ctx, t.HostAddr, t.Parties.Hosts[n], 0, nil)
	if err != nil {
		return nil, err
	}
	return keepIdle(h), nil
}

// receive hands what a transport opens to handle until it fails.
func receive(t client.Transport, handle func(payload []byte) error) error {
	for {
		message, err := t.Receive(context.Background())
		if err != nil {
			return err
		}
		if err := handle(message); err != nil {
			return err
		}
	}
}

// sealedEntry is an entry with a channel to one host.
type sealedEntry struct {
	entry     *client.Entry
	transport client.Transport
	closed    atomic.Bool
}

func dialSealedEntry(ctx context.Context, addr string, keys, host *ident.Private) (load.Endpoint, error) {
	entry, err := client.DialEntry(ctx, relayconn.Config{RelayURL: "http://" + addr, Keys: keys, Label: "bench"})
	if err != nil {
		return nil, err
	}
	t, err := entry.OpenDevice(ctx, host.ID(), host.Public().Seal, "bench")
	if err != nil {
		entry.Close()
		return nil, err
	}
	return &sealedEntry{entry: entry, transport: t}, nil
}

// Peers implements load.Endpoint.
func (e *sealedEntry) Peers() int { return 1 }

// Send implements load.Endpoint.
func (e *sealedEntry) Send(_ int, payload []byte) error {
	return e.ended(e.transport.Send(context.Background(), payload))
}

// Flush implements load.Endpoint: the link's writer was woken by Send.
func (e *sealedEntry) Flush() error { return nil }

// Run implements load.Endpoint.
func (e *sealedEntry) Run(handle load.Handler) error {
	return e.ended(receive(e.transport, func(payload []byte) error { return handle(0, payload) }))
}

func (e *sealedEntry) ended(err error) error {
	if e.closed.Load() {
		return nil
	}
	return err
}

// Close implements load.Endpoint.
func (e *sealedEntry) Close() error {
	e.closed.Store(true)
	err := e.transport.Close()
	e.entry.Close()
	return err
}

// sealedHost is a host that accepts its clients' channels. It implements
// relayconn.Handler.
type sealedHost struct {
	conn    *relayconn.Conn
	keys    *ident.Private
	entries int
	clients map[ident.ID]ident.SealPublic
	cancel  context.CancelFunc
	ended   chan struct{} // the link's Run has returned
	closed  atomic.Bool

	mu       sync.Mutex
	channels map[uint32]*client.Sealed
	accepted chan *client.Sealed // holds one for each entry
	peers    []*client.Sealed    // by peer; set by Run
}

func dialSealedHost(ctx context.Context, addr string, keys *ident.Private, entries int, clients map[ident.ID]ident.SealPublic) (load.Endpoint, error) {
	conn, err := relayconn.Dial(ctx, relayconn.Config{RelayURL: "http://" + addr, Keys: keys, Label: "bench"})
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(context.Background())
	h := &sealedHost{
		conn: conn, keys: keys, entries: entries, clients: clients, cancel: cancel, ended: make(chan struct{}),
		channels: make(map[uint32]*client.Sealed), accepted: make(chan *client.Sealed, entries),
	}
	go func() {
		defer close(h.ended)
		_ = conn.Run(runCtx, h) // the channels say why they ended
		h.closeAll()
	}()
	return h, nil
}

// Control implements relayconn.Handler.
func (h *sealedHost) Control(frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.ChannelOpened:
		s, err := client.NewSealed(h.conn, f.Channel, h.keys, seal.Peer{ID: f.PeerID, Key: h.clients[f.PeerID]}, nil)
		if err != nil {
			return // the entry's handshake gets no answer
		}
		h.mu.Lock()
		h.channels[f.Channel] = s
		h.mu.Unlock()
		go func() { // ends with the channel
			if s.Respond(context.Background()) == nil {
				h.accepted <- s
			}
		}()
	case *wire.ChannelClosed:
		h.mu.Lock()
		s := h.channels[f.Channel]
		delete(h.channels, f.Channel)
		h.mu.Unlock()
		if s != nil {
			s.Closed(f.Reason)
		}
	}
}

// Records implements relayconn.Handler.
func (h *sealedHost) Records(channel uint32, payloads [][]byte) {
	h.mu.Lock()
	s := h.channels[channel]
	h.mu.Unlock()
	if s != nil {
		s.Deliver(payloads...)
	}
}

func (h *sealedHost) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.channels {
		s.Closed(wire.ReasonReadError)
	}
}

// Peers implements load.Endpoint. All have opened their channels by now; which of
// them is which does not matter.
func (h *sealedHost) Peers() int {
	for len(h.peers) < h.entries {
		h.peers = append(h.peers, <-h.accepted)
	}
	return len(h.peers)
}

// Send implements load.Endpoint.
func (h *sealedHost) Send(peer int, payload []byte) error {
	err := h.peers[peer].Send(context.Background(), payload)
	if h.closed.Load() || gone(err) {
		return nil
	}
	return err
}

// gone tells that the entry has hung up, as all do at the end of a run.
func gone(err error) bool {
	closed := (*client.ClosedError)(nil)
	return errors.As(err, &closed) && (closed.Reason == wire.ReasonPeerGone || closed.Reason == wire.ReasonClosed)
}

// Flush implements load.Endpoint.
func (h *sealedHost) Flush() error { return nil }

// Run implements load.Endpoint.
func (h *sealedHost) Run(handle load.Handler) error {
	failed := make(chan error, h.Peers())
	for peer, s := range h.peers {
		go func() { failed <- receive(s, func(payload []byte) error { return handle(peer, payload) }) }()
	}
	var first error
	for range h.peers {
		if err := <-failed; err != nil && first == nil && !h.closed.Load() && !gone(err) {
			first = fmt.Errorf("a sealed channel ended: %w", err)
			h.cancel()
		}
	}
	<-h.ended
	return first
}

// Close implements load.Endpoint.
func (h *sealedHost) Close() error {
	h.closed.Store(true)
	h.cancel()
	<-h.ended
	return nil
}
