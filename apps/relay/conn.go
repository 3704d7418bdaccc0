package relay

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// conn is one connection of a peer. Its reader goroutine, run, owns it.
type conn struct {
	lane

	// Static after construction.
	net  net.Conn
	addr netip.Addr // whom rate limits count
	dialled
	start time.Time

	// Static after login.
	id   ident.ID
	self wire.Peer // what peers are told

	// Owned by the reader.
	reader   *ws.Reader
	nonce    []byte
	loggedIn bool
	inBatch  bool  // a binary message has begun
	last     *port // port of the last record
	strays   map[uint32]struct{}
	controls bucket // control frames, pings and pongs
	opens    bucket
	bytes    bucket
	// uncounted is how many bytes arrived and are not in the limits of bytes yet.
	uncounted int

	// Owned by the directory's goroutine.
	party   *party
	slots   []*slot
	opening int       // channels to devices on other nodes that are being opened
	stamp   time.Time // when a device's login was admitted
	changed map[ident.ID]*wire.Peer
	latest  []wire.Peer // bindings that were read after the login's, if not nil

	// Owned by the ping timer.
	pinger   *time.Timer
	missed   int
	held     int
	lastDone uint32

	done atomic.Uint32 // control frames and records that arrived whole

	alive  atomic.Bool // something arrived since the last ping
	reason atomic.Pointer[wire.Reason]
}

func newConn(r *Relay, up *ws.Upgraded, addr netip.Addr, as dialled) *conn {
	c := &conn{lane: lane{relay: r, nextNum: 1}, net: up.Conn, addr: addr, dialled: as, start: time.Now()}
	c.owner = c
	c.reader = ws.NewReader(up.Conn, r.pool, up.Early)
	c.reader.SetLimits(wire.MaxPreLogin, 0)
	c.reader.SetRoom(r.memory.grants)
	c.out.init(up.Conn, r.pool, r.queues, c.writeFailed)
	return c
}

// run serves the connection until it has ended and nothing of it is left.
func (c *conn) run() {
	c.greet()
	mayLinger := c.readLoop()
	c.depart()
	if mayLinger {
		c.linger()
	}
	c.teardown()
}

// readLoop handles what arrives until the connection ends. It reports whether
// the connection can still be read.
func (c *conn) readLoop() bool {
	for !c.ended() {
		ev, err := c.reader.Next()
		if err != nil {
			return c.readFailed(err)
		}
		if !c.alive.Load() {
			c.alive.Store(true)
		}
		c.uncounted += c.reader.Arrived()
		if c.ended() {
			break
		}
		c.handle(ev)
	}
	return true
}

func (c *conn) handle(ev ws.Event) {
	switch ev.Op {
	case ws.OpBinary:
		if !c.loggedIn {
			c.fail(wire.Errorf(wire.KindBadFrame, "records may follow the login only"))
			return
		}
		if err := c.routeBatch(ev); err != nil {
			c.fail(err)
		}
		c.keepPace() // after all that came has left: nobody else waits
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
			c.put(ws.OpPong, ev.Data)
		}
	case ws.OpPong:
		if c.allowControl() { // nobody asked for more than a few
			c.reader.Quieten()
		}
	case ws.OpClose:
		c.end(wire.ReasonClosed, ws.CloseStatus(ev.Data))
	}
}

// allowControl bounds what a peer can make the relay do besides carrying records.
func (c *conn) allowControl() bool {
	if c.controls.take(c.relay.limits().Controls, time.Now()) {
		return true
	}
	c.end(wire.ReasonProtocol, ws.StatusPolicy,
		&wire.ErrorFrame{Kind: wire.KindRateLimited, Message: "too many control frames; send fewer"},
		&wire.Goodbye{Reason: wire.ReasonProtocol})
	return false
}

// refuse answers a request with an error.
func (c *conn) refuse(requestID string, err *wire.Error) {
	c.tell(&wire.ErrorFrame{RequestID: requestID, Kind: err.Kind, Message: err.Message})
}
