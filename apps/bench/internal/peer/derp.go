package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	tailscale "tailscale.com/derp"
	"tailscale.com/types/key"

	"github.com/scorel/scorel/apps/bench/internal/load"
)

// derp speaks to Tailscale's relay with Tailscale's client, which writes each packet
// to the network at once.
type derp struct{}

// Connect implements Protocol.
func (derp) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	keys := make([]key.NodePrivate, hosts*(1+perHost)) // hosts, then entries
	for i := range keys {
		keys[i] = key.NewNode()
	}
	return connectBoth(hosts, hosts*perHost,
		func(i int) (load.Endpoint, error) {
			var peers []key.NodePublic
			for _, k := range keys[hosts+i*perHost:][:perHost] {
				peers = append(peers, k.Public())
			}
			return dialDERP(ctx, t, t.HostAddr, keys[i], peers)
		},
		func(i int) (load.Endpoint, error) {
			return dialDERP(ctx, t, t.EntryAddr, keys[hosts+i], []key.NodePublic{keys[i/perHost].Public()})
		})
}

// Idle implements Protocol.
func (derp) Idle(ctx context.Context, t Target, _ int) (io.Closer, error) {
	e, err := dialDERP(ctx, t, t.HostAddr, key.NewNode(), nil)
	if err != nil {
		return nil, err
	}
	return keepIdle(e), nil
}

type derpEnd struct {
	conn   net.Conn
	client *tailscale.Client
	keys   []key.NodePublic
	peers  map[key.NodePublic]int
	closed atomic.Bool
}

// dialDERP upgrades as Tailscale's client does over TLS: it does not wait for the
// answer, and knows the relay's key.
func dialDERP(ctx context.Context, t Target, addr string, own key.NodePrivate, keys []key.NodePublic) (load.Endpoint, error) {
	var server key.NodePublic
	if err := server.UnmarshalText([]byte(t.Key)); err != nil {
		return nil, fmt.Errorf("reading the relay's key: %w", err)
	}
	c, err := dialTCP(ctx, addr)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(c, "GET /derp HTTP/1.1\r\nHost: %s\r\nUpgrade: DERP\r\nConnection: Upgrade\r\n%s: 1\r\n\r\n", addr, tailscale.FastStartHeader); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	brw := bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriter(c))
	client, err := tailscale.NewClient(own, c, brw, func(string, ...any) {}, tailscale.ServerPublicKey(server), tailscale.CanAckPings(true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("logging in: %w", err), c.Close())
	}
	if _, err := client.Recv(); err != nil { // the server's information: it knows us now
		return nil, errors.Join(fmt.Errorf("logging in: %w", err), c.Close())
	}
	e := &derpEnd{conn: c, client: client, keys: keys, peers: make(map[key.NodePublic]int, len(keys))}
	for i, k := range keys {
		e.peers[k] = i
	}
	return e, nil
}

// Peers implements load.Endpoint.
func (e *derpEnd) Peers() int { return len(e.keys) }

// Send implements load.Endpoint. It does not wait for Flush.
func (e *derpEnd) Send(peer int, payload []byte) error {
	return e.ended(e.client.Send(e.keys[peer], payload))
}

// Flush implements load.Endpoint.
func (e *derpEnd) Flush() error { return nil }

// Run implements load.Endpoint.
func (e *derpEnd) Run(handle load.Handler) error {
	for {
		message, err := e.client.Recv()
		if err != nil {
			return e.ended(err)
		}
		switch m := message.(type) {
		case tailscale.ReceivedPacket:
			if err := handle(e.peers[m.Source], m.Data); err != nil {
				return err
			}
		case tailscale.PingMessage:
			if err := e.client.SendPong(m); err != nil {
				return e.ended(err)
			}
		}
	}
}

func (e *derpEnd) ended(err error) error {
	if e.closed.Load() {
		return nil
	}
	return err
}

// Close implements load.Endpoint.
func (e *derpEnd) Close() error {
	e.closed.Store(true)
	return e.conn.Close()
}
