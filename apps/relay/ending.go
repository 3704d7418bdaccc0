package relay

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// lingerTimeout is how long a peer has to read our last frames.
	lingerTimeout = 5 * time.Second
	// overloadedRetry is when to come back to a relay that is short of memory.
	overloadedRetry = 10 * time.Second
)

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
