package relay

import (
	"net/netip"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	// minByteRate is the least limit of bytes a second. What a socket holds already
	// must pass in seconds, or the pings behind it come too late.
	minByteRate = 1 << 20
	// paceUnit is the token of byte limits, in bytes, and paceStep how many bytes are
	// counted at once: the data path touches what connections share once per step.
	paceUnit = 1 << 10
	paceStep = 64 << 10
	// pauseMost is how long one pause lasts before the connection is looked at again.
	pauseMost = 250 * time.Millisecond
)

// pace holds the limits of bytes a second; nil where there is none. It is replaced as
// a whole, never changed.
type pace struct {
	conn  Rate
	ids   *limiter[ident.ID]
	addrs *limiter[netip.Addr]
	all   *limiter[everybody]
	on    bool
}

// with returns the pace of other limits. What somebody has sent stays counted where
// there is a limit before and after.
func (p *pace) with(b ByteRates) *pace {
	return &pace{
		conn: byteRate(b.Connection), on: b != ByteRates{},
		ids: paced(p.ids, b.Identity), addrs: paced(p.addrs, b.Address), all: paced(p.all, b.All),
	}
}

// paced returns a limiter of so many bytes a second: the one of before, or a new one,
// or nil for none.
func paced[K comparable](before *limiter[K], perSecond int64) *limiter[K] {
	switch {
	case perSecond == 0:
		return nil
	case before == nil:
		return newLimiter[K](byteRate(perSecond))
	}
	before.setRate(byteRate(perSecond))
	return before
}

// byteRate allows two seconds' worth at once.
func byteRate(perSecond int64) Rate {
	if perSecond == 0 {
		return Rate{}
	}
	return Rate{Burst: int(2 * perSecond / paceUnit), Every: time.Second * paceUnit / time.Duration(perSecond)}
}

// keepPace counts what arrived, and stops to read for a while when the connection, or
// those whom it belongs to, have sent more than they may. Only the reader calls it:
// the pause is this socket's alone, and the peer's own network stack tells the peer
// to wait.
func (c *conn) keepPace() {
	p := c.relay.pace.Load()
	if !p.on || c.uncounted < paceStep {
		return
	}
	units := float64(c.uncounted) / paceUnit
	c.uncounted = 0
	var wait time.Duration
	if p.conn.Burst > 0 {
		wait = c.bytes.owe(units, p.conn, time.Now())
	}
	if p.ids != nil {
		wait = max(wait, p.ids.owe(c.id, units))
	}
	if p.addrs != nil {
		wait = max(wait, p.addrs.owe(c.addr, units))
	}
	if p.all != nil {
		wait = max(wait, p.all.owe(everybody{}, units))
	}
	if wait > 0 {
		c.pause(wait)
	}
}

// pause waits, or less when the connection ends meanwhile. A peer that is made to
// wait is alive: its pongs are among what is not read.
func (c *conn) pause(wait time.Duration) {
	c.relay.metrics.paused.Add(wait.Seconds())
	for ; wait > 0 && !c.ended(); wait -= pauseMost {
		c.alive.Store(true)
		<-time.After(min(wait, pauseMost))
	}
	c.alive.Store(true)
}
