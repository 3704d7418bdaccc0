package directory

import (
	"slices"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// loginWindow is how close two logins must be for their clocks to decide which is
	// newer. Otherwise how long ago they were decides, by the clock of each node alone, so
	// that a wrong clock locks no host out.
	loginWindow = 2 * time.Second
	// replacedRetry is when a replaced host may try again: long enough that two processes
	// with one identity do not evict each other in turns.
	replacedRetry = 30 * time.Second
	// announceAgain is how often a login is announced again, with one heartbeat after
	// another. The node with the older connection misses a notice if its own subscription
	// has not reached the bus of this node yet, or while the bus is away.
	announceAgain = 3
)

// announcement is a login that is announced again.
type announcement struct {
	*member
	left int
}

// announceLogin notifies the node that has an older connection of a device, now and with the
// next heartbeats. In the loop.
func (d *Directory) announceLogin(m *member) {
	d.publishLogin(m, true)
	if !d.Cluster.Alone {
		d.recent = append(d.recent, announcement{m, announceAgain})
	}
}

// AnnounceLogins repeats the notices of recent logins, as long as their connections last.
func (d *Directory) AnnounceLogins() {
	_ = d.Loop.Do(func() { // a stopped loop has no devices
		kept := d.recent[:0]
		for _, a := range d.recent {
			if !slices.Contains(a.party.members, a.member) {
				continue
			}
			d.publishLogin(a.member, true)
			if a.left--; a.left > 0 {
				kept = append(kept, a)
			}
		}
		clear(d.recent[len(kept):])
		d.recent = kept
	})
}

// publishLogin publishes a login: fresh if the node announces it, otherwise as the answer to
// an older one.
func (d *Directory) publishLogin(m *member, fresh bool) {
	d.Cluster.Publish(cluster.PartySubject(m.ID()), cluster.Notice{
		Kind: cluster.NoticeLogin, Node: d.Cluster.Self(), Device: wire.Peer{ID: m.ID()},
		Stamp: m.stamp.UnixNano(), Age: int64(time.Since(m.stamp)), Fresh: fresh,
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
	if n.Fresh && time.Since(mine.stamp)-time.Duration(n.Age) > loginWindow {
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
