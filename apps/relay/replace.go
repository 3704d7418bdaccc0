package relay

import (
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// tellLogin tells the node that has an older connection of a device.
func (d *directory) tellLogin(c *conn, fresh bool) {
	d.relay.cluster.outbox.publish(partySubject(c.id), notice{
		Kind: noticeLogin, Node: d.relay.cluster.self, Device: wire.Peer{ID: c.id}, Stamp: c.stamp.UnixNano(), Fresh: fresh,
	})
}

// loginWindow is how close two logins may be for their clocks to decide. Beyond
// it the order in which they are heard does, so that a wrong clock keeps no host out.
const loginWindow = 2 * time.Second

// heardLogin lets the newer connection of a device win, wherever it is. Of two at
// the same time both nodes must choose the same one.
func (d *directory) heardLogin(n notice) {
	p := d.parties[n.Device.ID]
	if p == nil || len(p.conns) == 0 {
		return
	}
	mine := p.conns[0]
	at := mine.stamp.UnixNano()
	newer := n.Stamp > at || n.Stamp == at && n.Node > d.relay.cluster.self
	if n.Fresh && time.Since(mine.stamp) > loginWindow {
		newer = true
	}
	if !newer {
		d.tellLogin(mine, false)
		return
	}
	d.eachBound(p, func(client *party) { client.away[p.id] = n.Node })
	d.replace(p)
	d.wentOffline(p)
}

// replacedRetry is when a replaced host may try again: long enough that two processes
// with one identity do not evict each other in turns.
const replacedRetry = 30 * time.Second

// replace lets the newer connection of a device win. The older one may be a
// half-open socket, or a second process that must back off.
func (d *directory) replace(p *party) {
	for _, old := range p.conns {
		old.end(wire.ReasonReplaced, ws.StatusPolicy,
			&wire.Goodbye{Reason: wire.ReasonReplaced, RetryAfter: replacedRetry.Milliseconds()})
	}
	p.conns = p.conns[:0]
}
