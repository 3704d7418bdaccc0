package directory

import (
	"errors"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// opening is a requested channel to a device on another node. The loop owns it.
//
//	asked --yes, or a first record--> open
//	  --no, or no answer--> refused
type opening struct {
	entry     *member
	requestID string
	device    ident.ID
	num       uint32
}

// Open answers open_channel from the memory of this node, or of the device's node,
// without the store. It must not be called in the loop.
func (d *Directory) Open(c *conn.Conn, f *wire.OpenChannel) {
	if err := d.tryOpen(c, f); err != nil {
		c.RefuseOpen(f.RequestID, err)
	}
}

// tryOpen opens a channel, or starts to if the device is on another node.
func (d *Directory) tryOpen(c *conn.Conn, f *wire.OpenChannel) *wire.Error {
	if c.ID().Kind() != ident.KindClient {
		return wire.Errorf(wire.KindNotAllowed, "only entries can open channels")
	}
	if !c.AllowOpen() {
		return wire.Errorf(wire.KindRateLimited, "too many channels opened; wait a moment")
	}
	if !d.Memory.RoomForChannel() {
		return wire.Errorf(wire.KindLimit, "the relay is short of memory; try again later")
	}
	var refused *wire.Error
	var elsewhere *opening
	if err := d.Loop.Do(func() { elsewhere, refused = d.open(d.members[c], f) }); err != nil {
		return conn.ErrShuttingDown()
	}
	if elsewhere != nil {
		d.tasks.Go(func() { d.openElsewhere(elsewhere) })
	}
	return refused
}

// open checks the binding and opens a channel. Both halves of the binding must exist; that
// of a device on another node is checked there. In the loop.
func (d *Directory) open(m *member, f *wire.OpenChannel) (*opening, *wire.Error) {
	unauthorized := wire.Errorf(wire.KindUnauthorized, "this client is not paired with that device; pair them first")
	if m == nil {
		return nil, unauthorized
	}
	if _, ok := m.party.bindings[f.DeviceID]; !ok {
		return nil, unauthorized
	}
	if d.Cluster.Blind() {
		return nil, cluster.ErrBlind()
	}
	host := d.host(f.DeviceID)
	if host == nil {
		return d.beginOpening(m, f)
	}
	if _, ok := host.party.bindings[m.ID()]; !ok {
		return nil, unauthorized
	}
	return nil, channel.Open(m.EntrySide(m.opening), host.HostSide(), f.RequestID)
}

// beginOpening is for a device that is not on this node. In the loop.
func (d *Directory) beginOpening(m *member, f *wire.OpenChannel) (*opening, *wire.Error) {
	switch {
	case d.Cluster.Alone:
		return nil, channel.ErrOffline()
	case !d.Cluster.Reachable():
		return nil, cluster.ErrUnreachable()
	}
	if err := m.EntrySide(m.opening).CheckEntry(); err != nil {
		return nil, err
	}
	o := &opening{entry: m, requestID: f.RequestID, device: f.DeviceID, num: d.Cluster.NextNum()}
	d.openings[o.num] = o
	m.opening++
	return o, nil
}

// openElsewhere asks the device's node for a channel.
func (d *Directory) openElsewhere(o *opening) {
	question := cluster.Notice{Kind: cluster.NoticeOpen, Device: wire.Peer{ID: o.device}, Client: o.entry.Self(), Num: o.num}
	a, err := d.Cluster.Ask(cluster.PartySubject(o.device), question)
	refused := cluster.ErrUnreachable()
	switch {
	case errors.Is(err, bus.ErrNoResponders):
		refused = channel.ErrOffline()
	case err != nil:
	case !a.OK:
		refused = wire.Errorf(a.Kind, "%s", a.Message)
	case d.Cluster.ObserveNode(a.Node, a.Epoch):
		d.CompleteOpening(o.num, a.Node)
		return
	}
	// A node may have opened it all the same: its answer was lost, or was not the first.
	question.Kind, question.Node = cluster.NoticeCancel, d.Cluster.Self()
	d.Cluster.Publish(cluster.PartySubject(o.device), question)
	_ = d.Loop.Do(func() { // a stopped loop has no openings
		if d.takeOpening(o.num) != nil {
			o.entry.RefuseOpen(o.requestID, refused)
		}
	})
}

// takeOpening returns an opening that is still in progress, once. In the loop.
func (d *Directory) takeOpening(num uint32) *opening {
	o := d.openings[num]
	if o != nil {
		delete(d.openings, num)
		o.entry.opening--
	}
	return o
}

// CompleteOpening opens the channel on this side, after the device's node has. It does
// nothing for a number that is not being opened. It must not be called in the loop.
func (d *Directory) CompleteOpening(num uint32, node string) {
	_ = d.Loop.Do(func() { d.complete(num, node) }) // a stopped loop has no openings
}

func (d *Directory) complete(num uint32, node string) {
	o := d.takeOpening(num)
	if o == nil {
		return
	}
	t := d.Cluster.Trunk(node)
	if d.members[o.entry.Conn] == nil || o.entry.Ended() {
		t.Send(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonPeerGone})
		return
	}
	if _, ok := o.entry.party.bindings[o.device]; !ok || d.Cluster.Blind() {
		t.Send(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonRevoked})
		o.entry.RefuseOpen(o.requestID, wire.Errorf(wire.KindUnauthorized, "this client is no longer paired with that device; pair them again"))
		return
	}
	channel.OpenToNode(o.entry.EntrySide(o.entry.opening), t.Side(o.device), num, o.requestID)
}

// OpenForNode answers an entry's node that asks for a device of this node. In the
// loop.
func (d *Directory) OpenForNode(n cluster.Notice) cluster.Reply {
	host := d.host(n.Device.ID)
	switch {
	case d.Cluster.Blind():
		return cluster.Refusal(cluster.ErrBlind())
	case host == nil:
		return cluster.Refusal(channel.ErrOffline())
	}
	if _, ok := host.party.bindings[n.Client.ID]; !ok {
		return cluster.Refusal(wire.Errorf(wire.KindUnauthorized, "the device is not paired with this client; pair them first"))
	}
	t := d.Cluster.Trunk(n.Node)
	if err := channel.OpenFromNode(t.Side(n.Client.ID), host.HostSide(), n.Num); err != nil {
		return cluster.Refusal(err)
	}
	a := d.Cluster.Yes()
	a.Epoch = t.Epoch() // of the channel, whatever has happened since
	return a
}

// ApplyCancel closes the channel opened for an entry whose node gave up. In the
// loop.
func (d *Directory) ApplyCancel(n cluster.Notice) { d.Cluster.Trunk(n.Node).Cancel(n.Num) }
