package relay

import (
	"errors"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// opening is a channel to a device on another node that was asked for. The
// directory's goroutine owns it.
//
//	asked --yes, or a first record--> open
//	  --no, or no answer--> refused
type opening struct {
	conn      *conn
	requestID string
	device    ident.ID
	num       uint32
}

func errBlind() *wire.Error {
	return wire.Errorf(wire.KindUnavailable, "the relay cannot check its bindings now; try again later")
}

func errUnreachable() *wire.Error {
	return wire.Errorf(wire.KindUnavailable, "the relay cannot reach its other nodes now; try again later")
}

// beginOpening is for a device that is not on this node.
func (d *directory) beginOpening(c *conn, f *wire.OpenChannel) (*opening, *wire.Error) {
	cl := d.relay.cluster
	switch {
	case cl.alone:
		return nil, errOffline()
	case !cl.up.Load():
		return nil, errUnreachable()
	}
	c.portsMu.Lock()
	err := c.roomForEntryPort()
	c.portsMu.Unlock()
	if err != nil {
		return nil, err
	}
	o := &opening{conn: c, requestID: f.RequestID, device: f.DeviceID, num: cl.nextNum.Add(1) &^ fromHost}
	d.openings[o.num] = o
	c.opening++
	return o, nil
}

// openElsewhere asks the device's node for a channel.
func (r *Relay) openElsewhere(o *opening) {
	question := notice{Kind: noticeOpen, Device: wire.Peer{ID: o.device}, Client: o.conn.self, Num: o.num}
	a, err := r.cluster.ask(partySubject(o.device), question)
	refused := errUnreachable()
	switch {
	case errors.Is(err, bus.ErrNoResponders):
		refused = errOffline()
	case err != nil:
		// The other node may have opened it and its answer be lost.
		question.Kind, question.Node = noticeCancel, r.cluster.self
		r.cluster.outbox.publish(partySubject(o.device), question)
	case !a.OK:
		refused = wire.Errorf(a.Kind, "%s", a.Message)
	case r.cluster.hearNode(a.Node, a.Epoch):
		_ = r.dir.do(func() { r.dir.completeOpening(o.num, a.Node) }) // a stopped directory has none
		return
	}
	_ = r.dir.do(func() { // a stopped directory has nobody to tell
		if r.dir.takeOpening(o.num) != nil {
			o.conn.refuseOpen(o.requestID, refused)
		}
	})
}

// takeOpening returns an opening that was still under way, once.
func (d *directory) takeOpening(num uint32) *opening {
	o := d.openings[num]
	if o != nil {
		delete(d.openings, num)
		o.conn.opening--
	}
	return o
}

// completeOpening opens the channel on this side, after the device's node has. It
// does nothing for a number that is not being opened.
func (d *directory) completeOpening(num uint32, node string) {
	o := d.takeOpening(num)
	if o == nil {
		return
	}
	t := d.relay.cluster.trunk(node)
	if o.conn.party == nil || o.conn.ended() {
		t.tell(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonPeerGone})
		return
	}
	if _, ok := o.conn.party.grants[o.device]; !ok || d.relay.cluster.blind.Load() {
		t.tell(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonRevoked})
		o.conn.refuseOpen(o.requestID, wire.Errorf(wire.KindUnauthorized, "this client is not paired with that device any more; pair them again"))
		return
	}
	l, told := joinEntry(o, t)
	d.relay.metrics.channels.Inc()
	d.relay.metrics.opens.WithLabelValues(resultOK).Inc()
	if !told {
		o.conn.cut(wire.ReasonSlowConsumer)
		l.close(wire.ReasonPeerGone, &o.conn.lane)
	}
}

// joinEntry adds a channel whose host is on another node. See joinPorts.
func joinEntry(o *opening, t *trunk) (l *link, told bool) {
	c := o.conn
	c.portsMu.Lock()
	defer c.portsMu.Unlock()
	t.portsMu.Lock()
	defer t.portsMu.Unlock()
	l = &link{}
	l.entry = port{link: l, lane: &c.lane, num: c.nextNum, id: c.id}
	l.host = port{link: l, lane: &t.lane, num: o.num, id: o.device}
	c.addPort(&l.entry)
	t.addPort(&l.host)
	return l, c.tellOpened(&wire.ChannelOpened{RequestID: o.requestID, Channel: l.entry.num, PeerID: o.device})
}

// openForRemote answers an entry's node: the device is asked for here.
func (d *directory) openForRemote(n notice) reply {
	host := d.host(n.Device.ID)
	switch {
	case d.relay.cluster.blind.Load():
		return refusal(errBlind())
	case host == nil:
		return refusal(errOffline())
	}
	if _, ok := host.party.grants[n.Client.ID]; !ok {
		return refusal(wire.Errorf(wire.KindUnauthorized, "the device is not paired with this client; pair them first"))
	}
	t := d.relay.cluster.trunk(n.Node)
	added, err := joinHost(host, t, n)
	if err != nil {
		return refusal(err)
	}
	if added {
		d.relay.metrics.channels.Inc()
	}
	a := d.yes()
	a.Epoch = t.epoch // the channel's, whatever has happened since
	return a
}

// joinHost adds a channel whose entry is on another node. See joinPorts.
func joinHost(host *conn, t *trunk, n notice) (added bool, err *wire.Error) {
	host.portsMu.Lock()
	defer host.portsMu.Unlock()
	t.portsMu.Lock()
	defer t.portsMu.Unlock()
	if err := host.roomForHostPort(); err != nil {
		return false, err
	}
	l := &link{}
	l.entry = port{link: l, lane: &t.lane, num: n.Num | fromHost, id: n.Client.ID}
	l.host = port{link: l, lane: &host.lane, num: host.nextNum, id: host.id}
	if other, used := t.ports[l.entry.num]; used {
		if other.peer().lane == &host.lane {
			return false, nil // asked twice
		}
		return false, wire.Errorf(wire.KindUnavailable, "the channel's number is in use; try again")
	}
	if !host.tellOpened(&wire.ChannelOpened{Channel: l.host.num, PeerID: n.Client.ID}) {
		return false, errOffline()
	}
	host.addPort(&l.host)
	t.addPort(&l.entry)
	return true, nil
}

// cancelRemote closes what was opened for an entry's node that gave up.
func (d *directory) cancelRemote(n notice) {
	t := d.relay.cluster.trunk(n.Node)
	if p := t.port(n.Num | fromHost); p != nil {
		p.link.close(wire.ReasonPeerGone, &t.lane)
	}
}
