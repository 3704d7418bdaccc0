package uplink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// relayConn is the handler of one connection to the relay.
type relayConn struct {
	uplink   *Uplink
	conn     *relayconn.Conn
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

// revokeUnknown asks the relay to end bindings of clients that the host no longer knows,
// for example because a client was removed while the relay was unreachable.
func (r *relayConn) revokeUnknown() {
	for _, peer := range r.conn.Welcome().Peers {
		r.revokeStranger(peer.ID)
	}
}

// revokeStranger asks the relay to end its binding of a client that the host does not know.
func (r *relayConn) revokeStranger(id ident.ID) {
	if _, ok := r.uplink.Clients.Get(id); !ok {
		r.revoke(r.ctx, id)
	}
}

// revoke asks the relay to end a binding.
func (r *relayConn) revoke(ctx context.Context, id ident.ID) {
	if err := r.conn.Send(ctx, wire.RevokeBinding{RequestID: "revoke-" + id.String(), PeerID: id}); err != nil {
		r.uplink.Logger.Warn("reporting a revocation to the relay", "relay", r.uplink.URL, "client", id, "error", err)
	}
}

// Control implements relayconn.Handler.
func (r *relayConn) Control(frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.ChannelOpened:
		r.open(f)
	case *wire.ChannelClosed:
		if c := r.take(f.Channel); c != nil {
			c.sealed.Closed(f.Reason)
		}
	case *wire.BindingRevoked:
		r.ended(f.PeerID)
	case *wire.PeerBound:
		r.uplink.note(f.Peer.ID, true)
		r.revokeStranger(f.Peer.ID)
	case *wire.PairComplete:
		r.uplink.note(f.Peer.ID, true)
		r.pairings.Control(frame)
	default:
		r.pairings.Control(frame)
	}
}

// ended takes the end of a binding at this relay. The client stays on the host's list while
// another relay holds a binding for it: one relay is not trusted to remove it everywhere.
func (r *relayConn) ended(id ident.ID) {
	r.uplink.note(id, false)
	r.closeClient(id, wire.ReasonRevoked)
	r.uplink.all.left(id)
}

// Records implements relayconn.Handler.
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
	if f.Channel <= r.lastNum { // a second channel would hide the first from its closing
		r.end(fmt.Errorf("the relay used the number %d for a second channel: it violates the protocol", f.Channel))
		return
	}
	r.lastNum = f.Channel
	known, ok := r.uplink.Clients.Get(f.PeerID)
	peer := seal.Peer{ID: f.PeerID, Key: known.Seal}
	if !ok {
		r.uplink.Logger.Warn("refused a channel of an unknown client", "client", f.PeerID)
		_ = r.conn.CloseChannel(f.Channel, wire.ReasonNotAuthorized)
		return
	}
	if known.Expired(time.Now()) {
		r.uplink.Logger.Info("refused a channel: the access of the client has expired", "client", f.PeerID)
		_ = r.conn.CloseChannel(f.Channel, wire.ReasonExpired)
		return
	}
	if r.full() {
		r.uplink.Logger.Warn("refused a channel: the limit of open channels is reached", "client", f.PeerID)
		_ = r.conn.CloseChannel(f.Channel, wire.ReasonClosed)
		return
	}
	sealed, err := client.NewSealed(r.conn, f.Channel, r.uplink.Keys, peer, func() { r.take(f.Channel) })
	if err != nil {
		r.uplink.Logger.Error("sealing a channel", "client", f.PeerID, "error", err)
		_ = r.conn.CloseChannel(f.Channel, wire.ReasonProtocol)
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
	known, ok := r.uplink.Clients.Get(peer) // it may have been removed in the meantime
	switch {
	case !ok:
		sealed.CloseWith(wire.ReasonNotAuthorized)
		err = dispatch.ErrClientRemoved
	case known.Expired(time.Now()):
		sealed.CloseWith(wire.ReasonExpired)
		err = dispatch.ErrAccessExpired
	case err == nil:
		r.uplink.Logger.Info("an entry connected", "client", peer)
		err = r.uplink.Serve(r.ctx, sealed, peer.String(), known.Grants)
	}
	_ = sealed.Close()
	if errors.Is(err, dispatch.ErrClientLeft) {
		r.uplink.all.Revoke(r.ctx, peer)
	}
	r.uplink.Logger.Info("an entry disconnected", "client", peer, "reason", whyGone(err))
}

// whyGone describes for the host's log why a client's channel ended. The text of a
// client.ClosedError is written for the client's side.
func whyGone(err error) string {
	var closed *client.ClosedError
	if !errors.As(err, &closed) {
		return fmt.Sprint(err)
	}
	switch closed.Reason {
	case wire.ReasonPeerGone:
		return "the client's connection was lost"
	case wire.ReasonClosed:
		return "the client closed its channel"
	case wire.ReasonReadError:
		return "the host's connection to the relay was lost"
	case wire.ReasonNotAuthorized, wire.ReasonRevoked:
		return "the client was removed"
	case wire.ReasonExpired:
		return "the access of the client expired"
	}
	return closed.Error()
}

// full reports whether the limit of channels is reached. The relay has the same limit, but
// the host does not rely on it.
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
