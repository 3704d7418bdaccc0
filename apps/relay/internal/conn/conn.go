// Package conn serves one WebSocket of a peer: it greets the peer, checks the proof of its
// login, routes the records that it sends to the other ends of their channels, hands its
// control frames to a Handler, and notices when the peer is gone, reads too slowly or sends
// too much.
//
// One goroutine, the reader that Run starts with, owns a connection:
//
//	greet --login--> serve --goodbye--> linger --> closed
//	  any state --Cut, network error--> closed
package conn

import (
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Handler decides what a peer may do. A connection calls it from its reader.
type Handler interface {
	// Proves reports whether a login that was signed for an authority is a login here.
	Proves(authority string, to authority.Dialed) bool
	// Login admits a peer whose proof was checked and queues its welcome, or returns an
	// error, usually a *wire.Error, that is sent to the peer.
	Login(c *Conn, invite string) error
	// Handle handles a control frame of a logged-in peer. The sender is the
	// connection's identity; ids in the frame only name whom the frame is about.
	Handle(c *Conn, f wire.Frame)
	// Leave forgets a peer. No channel may be opened for it afterwards.
	Leave(c *Conn)
	// Closed is called last, when nothing of the connection is left.
	Closed(c *Conn)
}

// Env is what the connections of a relay share.
type Env struct {
	Handler Handler
	Log     *slog.Logger
	Metrics *metrics.Metrics
	Pool    *bufpool.Pool
	Memory  *memory.Account
	Queues  *queue.Bounds
	Guards  *limits.Guards
	Limits  func() *limits.Limits // the current ones
	Pace    atomic.Pointer[limits.Pace]
}

// Conn is one connection of a peer. It sends to the peer through its Mux, from any
// goroutine.
type Conn struct {
	channel.Mux
	env *Env

	// Static after construction.
	net    net.Conn
	addr   netip.Addr // the address that rate limits count
	dialed authority.Dialed
	start  time.Time

	// Static after login.
	id   ident.ID
	self wire.Peer // what other peers see

	// Owned by the reader.
	reader   *ws.Reader
	nonce    []byte
	loggedIn bool
	inBatch  bool         // a binary message has begun
	last     *channel.End // of the last record
	strays   map[uint32]struct{}
	controls limits.Bucket // control frames, pings and pongs
	opens    limits.Bucket
	bytes    limits.Bucket
	// uncounted is how many bytes arrived and have not been counted against limits.
	uncounted int

	// Owned by the ping timer.
	pinger   *time.Timer
	missed   int
	held     int
	lastDone uint32

	done atomic.Uint32 // control frames and records that arrived completely

	alive  atomic.Bool // something arrived since the last ping
	reason atomic.Pointer[wire.Reason]
}

// New returns a connection on an upgraded socket. The caller calls Run.
func New(env *Env, up *ws.Upgraded, addr netip.Addr, to authority.Dialed) *Conn {
	c := &Conn{env: env, net: up.Conn, addr: addr, dialed: to, start: time.Now()}
	c.Init(c, env.Log, env.Metrics)
	c.reader = ws.NewReader(up.Conn, env.Pool, up.Early)
	c.reader.SetLimits(wire.MaxPreLogin, 0)
	c.reader.SetRoom(env.Memory.Grants)
	c.Out.Init(up.Conn, env.Pool, env.Queues, c.writeFailed)
	return c
}

// ID is the proven identity of a peer that logs in or has logged in.
func (c *Conn) ID() ident.ID { return c.id }

// Self is the peer without its online state, which the directory knows.
func (c *Conn) Self() wire.Peer { return c.self }

// Addr is the address that rate limits count.
func (c *Conn) Addr() netip.Addr { return c.addr }

// AsPeer is the peer as the other side of a pairing sees it: connected.
func (c *Conn) AsPeer() wire.Peer {
	peer := c.self
	peer.Online = c.id.Kind() == ident.KindDevice
	return peer
}

// EntrySide is the connection as the entry of a channel, while opening more are being
// opened for it.
func (c *Conn) EntrySide(opening int) channel.Side {
	return channel.Side{Mux: &c.Mux, ID: c.id, Limit: c.env.Limits().ChannelsPerEntry, Opening: opening}
}

// HostSide is the connection as the host of a channel.
func (c *Conn) HostSide() channel.Side {
	return channel.Side{Mux: &c.Mux, ID: c.id, Limit: c.env.Limits().ChannelsPerHost}
}

// Run serves the connection until it has ended and nothing of it is left.
func (c *Conn) Run() {
	c.greet()
	mayLinger := c.readLoop()
	c.leave()
	if mayLinger {
		c.linger()
	}
	c.teardown()
}

// readLoop handles what arrives until the connection ends. It reports whether the
// connection can still be read.
func (c *Conn) readLoop() bool {
	for !c.Ended() {
		ev, err := c.reader.Next()
		if err != nil {
			return c.readFailed(err)
		}
		if !c.alive.Load() {
			c.alive.Store(true)
		}
		c.uncounted += c.reader.Arrived()
		if c.Ended() {
			break
		}
		c.handle(ev)
	}
	return true
}

func (c *Conn) handle(ev ws.Event) {
	switch ev.Op {
	case ws.OpBinary:
		if !c.loggedIn {
			c.fail(wire.Errorf(wire.KindBadFrame, "records can only follow the login"))
			return
		}
		if err := c.routeBatch(ev); err != nil {
			c.fail(err)
		}
		c.keepPace() // after forwarding everything that arrived, so that no other peer waits
	case ws.OpText:
		c.done.Add(1)
		if !c.loggedIn {
			c.login(ev.Data)
		} else if c.allowControl() {
			c.control(ev.Data)
			c.keepPace()
		}
	case ws.OpPing:
		if c.allowControl() {
			c.Put(ws.OpPong, ev.Data)
		}
	case ws.OpPong:
		if c.allowControl() { // the relay asks for few of them
			c.reader.Quieten()
		}
	case ws.OpClose:
		c.Goodbye(wire.ReasonClosed, ws.CloseStatus(ev.Data))
	}
}

// allowControl limits the work other than forwarding records that a peer can cause.
func (c *Conn) allowControl() bool {
	if c.controls.Take(c.env.Limits().Controls, time.Now()) {
		return true
	}
	c.Goodbye(wire.ReasonProtocol, ws.StatusPolicy,
		&wire.ErrorFrame{Kind: wire.KindRateLimited, Message: "too many control frames; send fewer"},
		&wire.Goodbye{Reason: wire.ReasonProtocol})
	return false
}

// AllowOpen counts a channel that the peer wants to open against the rate limits of the
// connection, its identity, its address and the relay. Only the reader calls it.
func (c *Conn) AllowOpen() bool {
	return c.opens.Take(c.env.Limits().Opens, time.Now()) && c.env.Guards.MayOpen(c.id, c.addr)
}

// Refuse answers a request with an error.
func (c *Conn) Refuse(requestID string, err *wire.Error) {
	c.Send(&wire.ErrorFrame{RequestID: requestID, Kind: err.Kind, Message: err.Message})
}

// RefuseOpen is Refuse for a request to open a channel, which is counted.
func (c *Conn) RefuseOpen(requestID string, err *wire.Error) {
	c.env.Metrics.Opens.WithLabelValues(err.Kind.String()).Inc()
	c.Refuse(requestID, err)
}
