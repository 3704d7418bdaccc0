package conn

import (
	"time"

	"github.com/scorel/scorel/apps/relay/internal/limits"
)

// pauseMost is how long one pause lasts before the connection is checked again.
const pauseMost = 250 * time.Millisecond

// keepPace counts what arrived. It stops reading for a while if the connection, its
// identity, its address or the relay is over a limit. Only the reader calls it: the pause
// affects this socket alone, and the peer's own network stack makes the peer wait.
func (c *Conn) keepPace() {
	p := c.env.Pace.Load()
	if !p.Limits() || c.uncounted < limits.PaceStep {
		return
	}
	wait := p.Owe(c.uncounted, &c.bytes, c.id, c.addr)
	c.uncounted = 0
	if wait > 0 {
		c.pause(wait)
	}
}

// pause waits, or less if the connection ends in the meantime. A peer that has to wait counts as
// alive, because its pongs are among what is not read.
func (c *Conn) pause(wait time.Duration) {
	c.env.Metrics.Paused.Add(wait.Seconds())
	for ; wait > 0 && !c.Ended(); wait -= pauseMost {
		c.alive.Store(true)
		<-time.After(min(wait, pauseMost))
	}
	c.alive.Store(true)
}
