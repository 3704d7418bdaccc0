package uplink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// handshakeTimeout bounds how long a channel may be open without being sealed.
const handshakeTimeout = 15 * time.Second

// Options say what uplinks do with channels. All are required.
type Options struct {
	Label   func() string // of this device
	Keys    *ident.Private
	Clients *state.Clients
	Logger  *slog.Logger
	// Serve runs the connection of a client until it ends, and returns why.
	Serve func(ctx context.Context, transport client.Transport, clientID string, grants []api.Grant) error
	// Notify sends an event to the clients.
	Notify func(api.Event)
	// Remove removes a client that ended its binding.
	Remove func(ident.ID) (bool, error)
	// Choose checks the grants and limits that were chosen for a new client.
	Choose func(grants []api.Grant, limits api.ClientLimits) ([]api.Grant, api.ClientLimits, error)
	// Paired is called after a client got the grants of pairing, in place of any others.
	Paired func(ident.ID)
}

// Uplink keeps the host connected to one relay. Run is its goroutine; the other methods
// may be called from any.
type Uplink struct {
	Link
	Options
	connLog connLog  // owned by Run
	all     *Uplinks // that it is one of

	mu      sync.Mutex
	relay   *relayConn // nil while not connected
	state   relayconn.State
	changed chan struct{}     // closed and replaced when relay changes
	again   func()            // ends the connection, to log in again; nil before Run
	bound   map[ident.ID]bool // the clients that the relay holds a binding for, as far as known; nil before the first login
}

func newUplink(all *Uplinks, link Link, o Options) *Uplink {
	return &Uplink{Link: link, Options: o, all: all, connLog: connLog{log: o.Logger, url: link.URL}, changed: make(chan struct{})}
}

// Run keeps the connection until ctx ends, and returns when every channel has ended.
func (u *Uplink) Run(ctx context.Context) {
	for ctx.Err() == nil {
		kept, again := context.WithCancel(ctx)
		u.mu.Lock()
		u.again = again
		u.mu.Unlock()
		cfg := relayconn.Config{RelayURL: u.URL, Keys: u.Keys, Label: u.Label(), Logger: u.Logger, Invite: u.Invite, HTTPClient: u.HTTP}
		_ = relayconn.Keep(kept, cfg, u.report, u.serve) // it ends with kept
		again()
	}
}

// Renew has the uplink log in again, with the label of now. It returns when the old connection
// is no longer used.
func (u *Uplink) Renew(ctx context.Context) {
	u.mu.Lock()
	before, changed := u.relay, u.changed
	if u.again != nil {
		u.again()
	}
	u.mu.Unlock()
	if before == nil {
		return
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

func (u *Uplink) report(state relayconn.State) {
	u.mu.Lock()
	u.state = state
	u.mu.Unlock()
	u.connLog.report(state)
}

// Paths returns the paths to this device that lead through the relay.
func (u *Uplink) Paths() []api.Path {
	state := api.PathConnecting
	if u.connected() {
		state = api.PathConnected
	}
	paths := u.places()
	for i := range paths {
		paths[i].State = state
	}
	return paths
}

func (u *Uplink) connected() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.relay != nil
}

// rank orders uplinks for a person who names no relay: one that is connected can be used.
func (u *Uplink) rank() int {
	if u.connected() {
		return 1
	}
	return 0
}

// serve runs one connection to the relay.
func (u *Uplink) serve(ctx context.Context, conn *relayconn.Conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &relayConn{
		uplink: u, conn: conn, ctx: ctx, end: cancel,
		pairings: client.NewPairings(conn, u.Keys),
		channels: map[uint32]*hostChannel{},
	}
	u.welcomed(conn.Welcome().Peers)
	if !u.begin(r) {
		return context.Cause(ctx)
	}
	r.revokeUnknown()
	u.all.settle()
	err := conn.Run(ctx, r)
	r.pairings.Lost()
	u.set(nil)
	cancel(nil)
	r.closeAll()
	r.wg.Wait()
	return err
}

// begin makes a connection the current one. It returns false for one that Renew has ended
// before: a pairing that began on it would be lost at once.
func (u *Uplink) begin(r *relayConn) bool {
	u.mu.Lock()
	ended := r.ctx.Err() != nil
	if !ended {
		u.setLocked(r)
	}
	u.mu.Unlock()
	if !ended {
		u.Notify(api.PathsChanged{})
	}
	return !ended
}

func (u *Uplink) set(r *relayConn) {
	u.mu.Lock()
	u.setLocked(r)
	u.mu.Unlock()
	u.Notify(api.PathsChanged{})
}

func (u *Uplink) setLocked(r *relayConn) {
	u.relay = r
	close(u.changed)
	u.changed = make(chan struct{})
}

// current returns the connection, or an error that explains why it is missing.
func (u *Uplink) current() (*relayConn, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.relay != nil:
		return u.relay, nil
	case u.state.Err != nil:
		return nil, api.Errorf(api.KindUnavailable, "this host is not connected to its relay %s: %s", u.URL, u.state.Err)
	}
	return nil, api.Errorf(api.KindUnavailable, "this host is still connecting to its relay: try again in a moment")
}

// await is current, but waits for a connection that is being made.
func (u *Uplink) await(ctx context.Context) (*relayConn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		u.mu.Lock()
		changed := u.changed
		u.mu.Unlock()
		r, err := u.current()
		if err == nil {
			return r, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			_, err = u.current() // it may know by now why there is no connection
			return nil, err
		}
	}
}

// CloseClient closes the channels of a client.
func (u *Uplink) CloseClient(id ident.ID, reason wire.Reason) {
	if r, err := u.current(); err == nil {
		r.closeClient(id, reason)
	}
}

// Revoke asks the relay to end the binding of a client. If the relay cannot be reached, it
// is asked again at the next login.
func (u *Uplink) Revoke(ctx context.Context, id ident.ID) {
	r, err := u.current()
	if err != nil {
		return
	}
	r.revoke(ctx, id)
}

// welcomed takes the bindings that the relay reported at a login.
func (u *Uplink) welcomed(peers []wire.Peer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bound = map[ident.ID]bool{}
	for _, peer := range peers {
		u.bound[peer.ID] = true
	}
}

// note takes a binding that the relay reported, or its end.
func (u *Uplink) note(id ident.ID, bound bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if bound {
		u.bound[id] = true
	} else {
		delete(u.bound, id)
	}
}

// holds reports whether the relay may hold a binding for a client.
func (u *Uplink) holds(id ident.ID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bound == nil || u.bound[id]
}

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
		_ = r.conn.Send(r.ctx, wire.CloseChannel{Channel: f.Channel, Reason: wire.ReasonNotAuthorized})
		return
	}
	if known.Expired(time.Now()) {
		r.uplink.Logger.Info("refused a channel: the access of the client has expired", "client", f.PeerID)
		_ = r.conn.Send(r.ctx, wire.CloseChannel{Channel: f.Channel, Reason: wire.ReasonExpired})
		return
	}
	if r.full() {
		r.uplink.Logger.Warn("refused a channel: the limit of open channels is reached", "client", f.PeerID)
		_ = r.conn.Send(r.ctx, wire.CloseChannel{Channel: f.Channel, Reason: wire.ReasonClosed})
		return
	}
	sealed, err := client.NewSealed(r.conn, f.Channel, r.uplink.Keys, peer, func() { r.take(f.Channel) })
	if err != nil {
		r.uplink.Logger.Error("sealing a channel", "client", f.PeerID, "error", err)
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
		r.uplink.Notify(api.ClientsChanged{})
		err = r.uplink.Serve(r.ctx, sealed, peer.String(), known.Grants)
		r.uplink.Notify(api.ClientsChanged{})
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
