package limits

import (
	"net/netip"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	// MinByteRate is the lowest limit in bytes per second. The data that a socket holds
	// must pass within seconds, or the pings behind it arrive too late.
	MinByteRate = 1 << 20
	// PaceStep is how many bytes a connection gathers before it counts them, so that the
	// data path touches shared state once per step.
	PaceStep = 64 << 10
	// unit is the token of byte limits, in bytes.
	unit = 1 << 10
)

// Pace holds the limits in bytes per second; a nil limiter means no limit. It is replaced
// as a whole, never changed. It is safe for concurrent use.
type Pace struct {
	conn  Rate
	ids   *limiter[ident.ID]
	addrs *limiter[netip.Addr]
	all   *limiter[everyone]
	on    bool
}

// With returns a pace with other limits. Bytes that were counted stay counted where there
// was a limit before.
func (p *Pace) With(b ByteRates) *Pace {
	return &Pace{
		conn: byteRate(b.Connection), on: b != ByteRates{},
		ids: paced(p.ids, b.Identity), addrs: paced(p.addrs, b.Address), all: paced(p.all, b.All),
	}
}

// paced returns a limiter for a rate in bytes per second: the previous one with a new rate,
// a new one, or nil for no limit.
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

// byteRate allows a burst of two seconds.
func byteRate(perSecond int64) Rate {
	if perSecond == 0 {
		return Rate{}
	}
	return Rate{Burst: int(2 * perSecond / unit), Every: time.Second * unit / time.Duration(perSecond)}
}

// Limits reports whether there is any limit.
func (p *Pace) Limits() bool { return p.on }

// Owe counts n bytes of a connection against its own bucket, its identity, its address and
// the relay. It returns how long the connection must not read.
func (p *Pace) Owe(n int, own *Bucket, id ident.ID, addr netip.Addr) time.Duration {
	units := float64(n) / unit
	var wait time.Duration
	if p.conn.Burst > 0 {
		wait = own.Owe(units, p.conn, time.Now())
	}
	if p.ids != nil {
		wait = max(wait, p.ids.owe(id, units))
	}
	if p.addrs != nil {
		wait = max(wait, p.addrs.owe(addr, units))
	}
	if p.all != nil {
		wait = max(wait, p.all.owe(everyone{}, units))
	}
	return wait
}
