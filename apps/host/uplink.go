package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/link"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// handshakeTimeout bounds how long a channel may be open without being sealed.
const handshakeTimeout = 15 * time.Second

// uplink keeps the host connected to its relay.
type uplink struct {
	host *Host
	url  string // "" without a relay

	mu      sync.Mutex
	relay   *relayConn // nil while not connected
	state   link.State
	changed chan struct{} // closed and replaced when relay changes
}

func newUplink(h *Host, url string) *uplink {
	return &uplink{host: h, url: url, changed: make(chan struct{})}
}

func (u *uplink) run(ctx context.Context) {
	if u.url == "" {
		return
	}
	cfg := link.Config{RelayURL: u.url, Keys: u.host.keys, Label: u.host.label, Logger: u.host.log, Invite: u.host.invite()}
	_ = link.Keep(ctx, cfg, u.report, u.serve) // it ends with ctx
}

func (u *uplink) report(state link.State) {
	u.mu.Lock()
	u.state = state
	u.mu.Unlock()
	if state.Connected {
		u.host.log.Info("connected to the relay", "relay", u.url)
		return
	}
	u.host.log.Warn("not connected to the relay", "relay", u.url, "error", state.Err, "retryIn", state.RetryIn.Round(time.Millisecond))
}

func (u *uplink) status() (url, state string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.url == "":
		return "", "off"
	case u.relay != nil:
		return u.url, "connected"
	}
	return u.url, "connecting"
}

// serve runs one connection to the relay.
func (u *uplink) serve(ctx context.Context, conn *link.Conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &relayConn{
		host: u.host, conn: conn, ctx: ctx, end: cancel,
		pairings: client.NewPairings(conn, u.host.keys),
		channels: map[uint32]*hostChannel{},
	}
	u.set(r)
	r.dropStrangers()
	err := conn.Run(ctx, r)
	u.set(nil)
	cancel(nil)
	r.closeAll()
	r.wg.Wait()
	return err
}

func (u *uplink) set(r *relayConn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.relay = r
	close(u.changed)
	u.changed = make(chan struct{})
}

// current returns the connection, or an error that says why there is none.
func (u *uplink) current() (*relayConn, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.url == "":
		return nil, api.Errorf(api.KindUnavailable, "this host runs without a relay: start it with --relay URL")
	case u.relay != nil:
		return u.relay, nil
	case u.state.Err != nil:
		return nil, api.Errorf(api.KindUnavailable, "this host is not connected to its relay: %s", u.state.Err)
	}
	return nil, api.Errorf(api.KindUnavailable, "this host is still connecting to its relay: try again in a moment")
}

// await is current, but waits for a connection that is being made.
func (u *uplink) await(ctx context.Context) (*relayConn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		u.mu.Lock()
		changed := u.changed
		u.mu.Unlock()
		r, err := u.current()
		if err == nil || u.url == "" {
			return r, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			_, err = u.current() // it may know by now why there is no connection
			return nil, err
		}
	}
}

func (u *uplink) closeClient(id ident.ID, reason wire.Reason) {
	if r, err := u.current(); err == nil {
		r.closeClient(id, reason)
	}
}

func (u *uplink) revoke(ctx context.Context, id ident.ID) {
	r, err := u.current()
	if err != nil {
		return
	}
	if err := r.conn.Send(ctx, wire.RevokeBinding{RequestID: "revoke-" + id.String(), PeerID: id}); err != nil {
		u.host.log.Warn("telling the relay of a revocation", "client", id, "error", err)
	}
}

// relayConn is the handler of one connection to the relay.
type relayConn struct {
	host     *Host
	conn     *link.Conn
	ctx      context.Context // ends with the connection
	end      context.CancelCauseFunc
	pairings *client.Pairings
	wg       sync.WaitGroup // one for each channel
	lastNum  uint32         // of a channel; owned by the reader

	mu       sync.Mutex
	channels map[uint32]*hostChannel
}

type hostChannel struct {
	peer   ident.ID
	sealed *client.Sealed
}

// dropStrangers tells the relay of bindings that the host does not honour any
// more, as when a client was removed while the relay was away.
func (r *relayConn) dropStrangers() {
	for _, peer := range r.conn.Welcome().Peers {
		if _, ok := r.host.clients.Get(peer.ID); !ok {
			_ = r.conn.Send(r.ctx, wire.RevokeBinding{RequestID: "revoke-" + peer.ID.String(), PeerID: peer.ID})
		}
	}
}

// Control implements link.Handler.
func (r *relayConn) Control(frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.ChannelOpened:
		r.open(f)
	case *wire.ChannelClosed:
		if c := r.take(f.Channel); c != nil {
			c.sealed.Closed(f.Reason)
		}
	case *wire.BindingRevoked:
		if _, err := r.host.shutOut(f.PeerID); err != nil {
			r.host.log.Error("removing a client that ended its binding", "client", f.PeerID, "error", err)
		}
	default:
		r.pairings.Control(frame)
	}
}

// Records implements link.Handler.
func (r *relayConn) Records(channel uint32, payloads [][]byte) {
	r.mu.Lock()
	c := r.channels[channel]
	r.mu.Unlock()
	if c != nil {
		c.sealed.Deliver(payloads...)
	}
}

// open registers the channel before its first record can come, and serves it in a
// goroutine of its own. The list of clients decides, not the relay.
func (r *relayConn) open(f *wire.ChannelOpened) {
	if f.Channel <= r.lastNum { // a second channel would hide the first from who closes it
		r.end(fmt.Errorf("the relay gave the number %d to a second channel: it does not keep to the protocol", f.Channel))
		return
	}
	r.lastNum = f.Channel
	known, ok := r.host.clients.Get(f.PeerID)
	peer := seal.Peer{ID: f.PeerID, Key: known.Seal}
	if !ok {
		r.host.log.Warn("refused a channel of an unknown client", "client", f.PeerID)
		_ = r.conn.Send(r.ctx, wire.CloseChannel{Channel: f.Channel, Reason: wire.ReasonNotAuthorized})
		return
	}
	if r.full() {
		r.host.log.Warn("refused a channel: as many are open as a host has", "client", f.PeerID)
		_ = r.conn.Send(r.ctx, wire.CloseChannel{Channel: f.Channel, Reason: wire.ReasonClosed})
		return
	}
	sealed, err := client.NewSealed(r.conn, f.Channel, r.host.keys, peer, func() { r.take(f.Channel) })
	if err != nil {
		r.host.log.Error("sealing a channel", "client", f.PeerID, "error", err)
		_ = r.conn.Send(r.ctx, wire.CloseChannel{Channel: f.Channel, Reason: wire.ReasonProtocol})
		return
	}
	r.mu.Lock()
	r.channels[f.Channel] = &hostChannel{peer: f.PeerID, sealed: sealed}
	r.mu.Unlock()
	r.wg.Go(func() { r.serve(sealed, f.PeerID) })
}

func (r *relayConn) serve(sealed *client.Sealed, peer ident.ID) {
	ctx, cancel := context.WithTimeout(r.ctx, handshakeTimeout)
	err := sealed.Respond(ctx)
	cancel()
	known, ok := r.host.clients.Get(peer) // it may have been removed meanwhile
	switch {
	case !ok:
		sealed.CloseWith(wire.ReasonNotAuthorized)
		err = errRevoked
	case err == nil:
		r.host.log.Info("an entry connected", "client", peer)
		r.host.tell(api.ClientsChanged{})
		err = r.host.serveConn(r.ctx, sealed, peer.String(), known.Grants)
		r.host.tell(api.ClientsChanged{})
	}
	_ = sealed.Close()
	r.host.log.Info("an entry disconnected", "client", peer, "reason", err)
}

// full tells whether no channel has room any more. The relay has the same limit,
// and may not keep to it.
func (r *relayConn) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.channels) >= wire.MaxChannelsPerHost
}

func (r *relayConn) take(channel uint32) *hostChannel {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[channel]
	delete(r.channels, channel)
	return c
}

func (r *relayConn) closeClient(id ident.ID, reason wire.Reason) {
	r.mu.Lock()
	var closing []*client.Sealed
	for _, c := range r.channels {
		if c.peer == id {
			closing = append(closing, c.sealed)
		}
	}
	r.mu.Unlock()
	for _, sealed := range closing {
		sealed.CloseWith(reason)
	}
}

func (r *relayConn) closeAll() {
	r.mu.Lock()
	channels := r.channels
	r.channels = map[uint32]*hostChannel{}
	r.mu.Unlock()
	for _, c := range channels {
		c.sealed.Closed(wire.ReasonReadError)
	}
}
