package uplink

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// handshakeTimeout bounds how long a channel may be open without being sealed.
const handshakeTimeout = 15 * time.Second

// lingerFor bounds how long the next connection to a relay waits for the requests of the last
// one. Most end with it. One that hangs, as on a network drive that does not answer, must not keep
// the host offline for everyone.
const lingerFor = 3 * time.Second

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
	connLog connLog        // owned by Run
	ending  sync.WaitGroup // one for each connection that was lost and has channels; Run waits for them
	all     *Uplinks       // that it is one of

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
	u.ending.Wait()
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
	u.linger(r)
	return err
}

// linger waits until the channels of a lost connection have ended, but not for long. Run waits
// for those that are left.
func (u *Uplink) linger(r *relayConn) {
	ended := make(chan struct{})
	u.ending.Go(func() {
		r.wg.Wait()
		close(ended)
	})
	timer := time.NewTimer(lingerFor)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		u.Logger.Warn("requests of a lost connection to the relay have not ended; the host reconnects without waiting for them", "relay", u.URL)
	}
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
