package relay

import (
	"math/rand/v2"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// heldTicks is how many pings in a row may find a borrowed buffer and nothing
// that was made of it: within them the largest record comes at 1 KiB a second.
const heldTicks = 4

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
