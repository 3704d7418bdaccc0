package conn

import (
	"math/rand/v2"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// heldTicks is how many pings in a row may find a borrowed buffer but no complete message
// since the last ping: within them the largest record arrives at 1 KiB per second.
const heldTicks = 4

// startPings starts to check whether the peer is alive. The second interval in a row in
// which nothing arrives ends the connection. With the jitter, a peer that vanished is found
// within 3.6 intervals.
func (c *Conn) startPings() {
	c.pinger = time.AfterFunc(time.Hour, c.pingTick)
	c.pinger.Reset(c.pingPause())
}

func (c *Conn) pingPause() time.Duration {
	return time.Duration(float64(c.env.Limits().PingInterval) * (0.8 + 0.4*rand.Float64()))
}

// hoards reports whether the peer occupies a buffer by sending a message byte by byte: it
// is alive, but its message is never complete.
func (c *Conn) hoards() bool {
	done := c.done.Load()
	if c.reader.Holds() == 0 || done != c.lastDone {
		c.held, c.lastDone = 0, done
		return false
	}
	c.held++
	return c.held >= heldTicks
}

func (c *Conn) pingTick() {
	if c.Ended() {
		return
	}
	if c.alive.Swap(false) {
		c.missed = 0
	} else if c.missed++; c.missed >= 2 {
		c.Cut(wire.ReasonPingTimeout)
		return
	}
	if c.hoards() {
		c.Cut(wire.ReasonPingTimeout)
		return
	}
	c.Put(ws.OpPing, nil)
	c.pinger.Reset(c.pingPause())
	if c.Ended() { // teardown may have stopped the timer before it was reset
		c.pinger.Stop()
	}
}
