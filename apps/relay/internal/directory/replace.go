package directory

import (
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// loginWindow is how close two logins must be for their clocks to decide which
	// is newer. Otherwise the order in which their notices arrive decides, so that
	// a wrong clock locks no host out.
	loginWindow = 2 * time.Second
	// replacedRetry is when a replaced host may try again: long enough that two processes
	// with one identity do not evict each other in turns.
	replacedRetry = 30 * time.Second
)

// publishLogin notifies the node that has an older connection of a device.
func (d *Directory) publishLogin(m *member, fresh bool) {
	d.Cluster.Publish(cluster.PartySubject(m.ID()), cluster.Notice{
		Kind: cluster.NoticeLogin, Node: d.Cluster.Self(), Device: wire.Peer{ID: m.ID()}, Stamp: m.stamp.UnixNano(), Fresh: fresh,
	})
}

// ApplyLogin lets the newer connection of a device win, on whichever node it is. Of two
// logins at the same time both nodes must choose the same one. In the loop.
func (d *Directory) ApplyLogin(n cluster.Notice) {
	p := d.parties[n.Device.ID]
	if p == nil || len(p.members) == 0 {
		return
	}
	mine := p.members[0]
	at := mine.stamp.UnixNano()
	newer := n.Stamp > at || n.Stamp == at && n.Node > d.Cluster.Self()
	if n.Fresh && time.Since(mine.stamp) > loginWindow {
		newer = true
	}
	if !newer {
		d.publishLogin(mine, false)
		return
	}
	d.eachBound(p, func(client *party) { client.away[p.id] = n.Node })
	d.replace(p)
	d.wentOffline(p)
}

// replace ends the older connection of a device. It may be a half-open socket, or a second
// process, which must wait before it tries again.
func (d *Directory) replace(p *party) {
	for _, old := range p.members {
		old.Goodbye(wire.ReasonReplaced, ws.StatusPolicy,
			&wire.Goodbye{Reason: wire.ReasonReplaced, RetryAfter: replacedRetry.Milliseconds()})
	}
	p.members = p.members[:0]
}
