package conn

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// lingerTimeout is how long a peer has to read the relay's last frames.
	lingerTimeout = 5 * time.Second
	// overloadedRetry is when a peer may return to a relay that is short of memory.
	overloadedRetry = 10 * time.Second
)

// fail ends a connection whose peer sent something invalid.
func (c *Conn) fail(err error) {
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
	c.Goodbye(reason, status, frame, &wire.Goodbye{Reason: reason})
}

// readFailed sets the reason of an end, if there is none yet. It reports whether the
// connection can still be read.
func (c *Conn) readFailed(err error) bool {
	var broken *ws.ProtocolError
	switch {
	case c.Ended():
	case errors.As(err, &broken):
		c.fail(err)
		return true
	case errors.Is(err, ws.ErrNoRoom):
		c.Goodbye(wire.ReasonOverloaded, ws.StatusTryAgain,
			&wire.ErrorFrame{Kind: wire.KindLimit, Message: "the relay is short of memory; try again later"},
			&wire.Goodbye{Reason: wire.ReasonOverloaded, RetryAfter: overloadedRetry.Milliseconds()})
		return true
	case !c.loggedIn && errors.Is(err, os.ErrDeadlineExceeded):
		c.fail(wire.Errorf(wire.KindLoginTimeout, "no login arrived in time; send hello within %s", c.env.Limits().LoginTimeout))
		return true
	case !c.loggedIn:
		c.Cut(wire.ReasonLoginFailed)
	default:
		c.Cut(wire.ReasonReadError)
	}
	return false
}

func (c *Conn) writeFailed(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.Cut(wire.ReasonWriteTimeout)
	} else {
		c.Cut(wire.ReasonReadError)
	}
}

// Ended reports whether the connection has ended or is ending.
func (c *Conn) Ended() bool { return c.reason.Load() != nil }

// Goodbye queues the given frames as the last ones and lets the reader finish. The first
// reason wins. Any goroutine may call it; it does not block.
func (c *Conn) Goodbye(reason wire.Reason, status int, last ...wire.Frame) {
	if !c.reason.CompareAndSwap(nil, &reason) {
		return
	}
	var frames [][]byte
	for _, f := range last {
		if data, err := wire.EncodeControl(f); err == nil {
			frames = append(frames, data)
		}
	}
	c.Out.Finish(frames, ws.ClosePayload(status, string(reason)))
	c.CloseAll(wire.ReasonPeerGone)
	_ = c.net.SetReadDeadline(time.Now().Add(lingerTimeout)) // fails only if it is closed
}

// Cut ends the connection without a goodbye. Any goroutine may call it; it does not block.
func (c *Conn) Cut(reason wire.Reason) {
	c.reason.CompareAndSwap(nil, &reason)
	c.HangUp()
	c.CloseAll(wire.ReasonPeerGone)
}

// HangUp closes the socket at once, so that the reader fails. A TLS connection would first
// send an alert and could wait for a peer that does not read.
func (c *Conn) HangUp() {
	socket := c.net
	if secured, ok := socket.(interface{ NetConn() net.Conn }); ok {
		socket = secured.NetConn()
	}
	_ = socket.Close() // nothing else can be done with it
}

// leave takes the peer out of the routing state.
func (c *Conn) leave() {
	c.env.Handler.Leave(c)
	c.CloseAll(wire.ReasonPeerGone) // after Leave, so that no channel can be added
}

// linger reads until the peer has hung up, so that closing does not reset the connection
// under frames that the peer has not read yet. Goodbye has set the deadline.
func (c *Conn) linger() {
	var discarded [256]byte
	for {
		if _, err := c.net.Read(discarded[:]); err != nil {
			return
		}
	}
}

func (c *Conn) teardown() {
	if c.pinger != nil {
		c.pinger.Stop()
	}
	_ = c.net.Close() // everything that the peer gets was sent
	c.Out.Close()
	c.reader.Release()
	c.env.Handler.Closed(c)
	reason := *c.reason.Load()
	c.env.Metrics.Ends.WithLabelValues(string(reason)).Inc()
	level := slog.LevelDebug
	if c.loggedIn {
		level = slog.LevelInfo
		c.env.Metrics.Connections.WithLabelValues(metrics.Role(c.id.Kind())).Dec()
	}
	c.env.Log.Log(context.Background(), level, "connection ended", "id", c.id, "reason", reason, "after", time.Since(c.start).Round(time.Millisecond))
}
