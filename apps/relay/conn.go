package relay

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// lingerTimeout is how long a peer has to read our last frames.
	lingerTimeout = 5 * time.Second
	// replacedRetry is when a replaced host may try again: long enough that two
	// processes with one identity do not evict each other in turns.
	replacedRetry = 30 * time.Second
	// overloadedRetry is when to come back to a relay that is short of memory.
	overloadedRetry = 10 * time.Second
	// heldTicks is how many pings in a row may find a borrowed buffer and nothing
	// that was made of it: within them the largest record comes at 1 KiB a second.
	heldTicks = 4
)

// conn is one connection of a peer. Its reader goroutine, run, owns it.
type conn struct {
	lane

	// Static after construction.
	net  net.Conn
	addr netip.Addr // whom rate limits count
	host string     // the request's Host

	// Static after login.
	id    ident.ID
	self  wire.Peer // what peers are told
	start time.Time

	// Owned by the reader.
	reader   *ws.Reader
	nonce    []byte
	loggedIn bool
	inBatch  bool  // a binary message has begun
	last     *port // port of the last record
	strays   map[uint32]struct{}
	controls bucket
	opens    bucket
	bytes    bucket

	uncounted int // bytes that arrived and are not in the limits of bytes yet

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

func newConn(r *Relay, up *ws.Upgraded, addr netip.Addr, host string) *conn {
	c := &conn{lane: lane{relay: r, nextNum: 1}, net: up.Conn, addr: addr, host: host, start: time.Now()}
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
		}
	case ws.OpPing:
		if c.allowControl() {
			c.put(ws.OpPong, ev.Data)
		}
	case ws.OpPong:
		c.reader.Quieten()
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

// fail ends a connection whose peer sent what cannot be decoded.
func (c *conn) fail(err error) {
	frame := &wire.ErrorFrame{Kind: wire.KindBadFrame, Message: "the frame cannot be decoded"}
	status := ws.StatusPolicy
	if broken := (*ws.ProtocolError)(nil); errors.As(err, &broken) {
		frame.Message, status = broken.Text, broken.Status
	} else if known := (*wire.Error)(nil); errors.As(err, &known) {
		// Several faults of one frame come as lines.
		frame.Kind, frame.Message = known.Kind, strings.ReplaceAll(known.Message, "\n", "; ")
	}
	reason := wire.ReasonBadFrame
	if !c.loggedIn {
		c.loginFailed(frame.Kind)
		reason = wire.ReasonLoginFailed
	}
	c.end(reason, status, frame, &wire.Goodbye{Reason: reason})
}

// readFailed names why the connection ended, if that is not known, and reports
// whether it can still be read.
func (c *conn) readFailed(err error) bool {
	var broken *ws.ProtocolError
	switch {
	case c.ended():
	case errors.As(err, &broken):
		c.fail(err)
		return true
	case errors.Is(err, ws.ErrNoRoom):
		c.end(wire.ReasonOverloaded, ws.StatusTryAgain,
			&wire.ErrorFrame{Kind: wire.KindLimit, Message: "the relay is short of memory; try again later"},
			&wire.Goodbye{Reason: wire.ReasonOverloaded, RetryAfter: overloadedRetry.Milliseconds()})
		return true
	case !c.loggedIn && errors.Is(err, os.ErrDeadlineExceeded):
		c.fail(wire.Errorf(wire.KindLoginTimeout, "no login came in time; say hello within %s", c.relay.limits().LoginTimeout))
		return true
	case !c.loggedIn:
		c.cut(wire.ReasonLoginFailed)
	default:
		c.cut(wire.ReasonReadError)
	}
	return false
}

func (c *conn) writeFailed(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.cut(wire.ReasonWriteTimeout)
	} else {
		c.cut(wire.ReasonReadError)
	}
}

func (c *conn) ended() bool { return c.reason.Load() != nil }

// end says goodbye with the given frames and lets the reader finish. The first
// reason wins. Any goroutine may call it; it does not block.
func (c *conn) end(reason wire.Reason, status int, last ...wire.Frame) {
	if !c.reason.CompareAndSwap(nil, &reason) {
		return
	}
	var frames [][]byte
	for _, f := range last {
		if data, err := wire.EncodeControl(f); err == nil {
			frames = append(frames, data)
		}
	}
	c.out.finish(frames, ws.ClosePayload(status, string(reason)))
	c.closeLinks(wire.ReasonPeerGone)
	_ = c.net.SetReadDeadline(time.Now().Add(lingerTimeout)) // fails only when it is closed
}

// cut ends the connection without a goodbye.
func (c *conn) cut(reason wire.Reason) {
	c.reason.CompareAndSwap(nil, &reason)
	hangUp(c.net)
	c.closeLinks(wire.ReasonPeerGone)
}

// hangUp closes the socket at once. A TLS connection would first send an alert and
// could wait for a peer that does not read; the callers must not wait.
func hangUp(conn net.Conn) {
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	_ = conn.Close() // nothing more can be done with it
}

// depart takes the connection out of the directory.
func (c *conn) depart() {
	_ = c.relay.dir.do(func() { c.relay.dir.leave(c) }) // a stopped directory holds nobody
	c.closeLinks(wire.ReasonPeerGone)                   // after leave, so that none can be added
}

// linger reads on until the peer has hung up, so that closing does not reset the
// connection under frames that the peer has yet to read. end has set the deadline.
func (c *conn) linger() {
	var sink [256]byte
	for {
		if _, err := c.net.Read(sink[:]); err != nil {
			return
		}
	}
}

func (c *conn) teardown() {
	if c.pinger != nil {
		c.pinger.Stop()
	}
	_ = c.net.Close() // the peer has what it will get
	c.out.close()
	c.reader.Release()
	c.relay.forget(c)
	reason := *c.reason.Load()
	c.relay.metrics.ends.WithLabelValues(string(reason)).Inc()
	level := slog.LevelDebug
	if c.loggedIn {
		level = slog.LevelInfo
		c.relay.metrics.connections.WithLabelValues(role(c.id.Kind())).Dec()
	}
	c.relay.log.Log(context.Background(), level, "connection ended", "id", c.id, "reason", reason, "after", time.Since(c.start).Round(time.Millisecond))
}

// startPings begins to look for signs of life. Every tick without any since the
// last counts; the second in a row ends the connection. With the jitter a peer
// that vanishes is found within 3.6 intervals.
func (c *conn) startPings() {
	c.pinger = time.AfterFunc(time.Hour, c.pingTick)
	c.pinger.Reset(c.pingPause())
}

func (c *conn) pingPause() time.Duration {
	return time.Duration(float64(c.relay.limits().PingInterval) * (0.8 + 0.4*rand.Float64()))
}

// hoards tells whether the peer holds a buffer of ours by sending a message byte by
// byte: it is alive, but nothing ever comes of it.
func (c *conn) hoards() bool {
	done := c.done.Load()
	if c.reader.Holds() == 0 || done != c.lastDone {
		c.held, c.lastDone = 0, done
		return false
	}
	c.held++
	return c.held >= heldTicks
}

func (c *conn) pingTick() {
	if c.ended() {
		return
	}
	if c.alive.Swap(false) {
		c.missed = 0
	} else if c.missed++; c.missed >= 2 {
		c.cut(wire.ReasonPingTimeout)
		return
	}
	if c.hoards() {
		c.cut(wire.ReasonPingTimeout)
		return
	}
	c.put(ws.OpPing, nil)
	c.pinger.Reset(c.pingPause())
	if c.ended() { // teardown may have stopped the timer before it was set again
		c.pinger.Stop()
	}
}
