package relay

import (
	"errors"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A pairing lives at the node of its creator. When the redeemer is on another
// node, that node keeps a visit and passes the frames of both ways on; over there
// a farSide stands for the redeemer.

// visit is a pairing of another node that a peer of this one redeems. The
// directory's goroutine owns it.
//
//	asked --pair_joined--> joined --pair_complete, pair_closed--> gone
//	  any state: no for an answer, loss of a side or of the node --> gone
type visit struct {
	conn      *conn
	requestID string
	node      string    // where the slot is; "" until joined
	creator   wire.Peer // the other side, once joined
}

// farSide is the redeemer of a slot on another node.
type farSide struct {
	cluster *cluster
	node    string
	peer    wire.Peer
}

func (f *farSide) tell(frame wire.Frame) { f.cluster.trunk(f.node).tell(frame) }
func (f *farSide) asPeer() wire.Peer     { return f.peer }

// takenElsewhere tells whether another node has drawn the same code. When the bus
// cannot say, the code serves this node alone.
func (r *Relay) takenElsewhere(s *slot) bool {
	if r.cluster.alone || !r.cluster.up.Load() {
		return false
	}
	select {
	case <-r.cluster.outbox.settled(): // who draws the same from now on finds us
	case <-time.After(askTimeout):
	}
	a, err := r.cluster.ask(slotSubject(s.name), notice{Kind: noticeTaken, Slot: s.name, Once: true})
	return err == nil && a.OK
}

// redeemElsewhere looks for the code on the other nodes.
func (c *conn) redeemElsewhere(f *wire.RedeemPair) {
	var refused *wire.Error
	if err := c.relay.dir.do(func() { refused = c.relay.dir.visit(c, f) }); err != nil {
		refused = errClosingDown()
	}
	if refused != nil {
		c.refuse(f.RequestID, refused)
		return
	}
	question := notice{Kind: noticeRedeem, Slot: f.Slot, RequestID: f.RequestID, Client: c.asPeer()}
	a, err := c.relay.cluster.ask(slotSubject(f.Slot), question)
	switch {
	case errors.Is(err, bus.ErrNoResponders):
		refused = errNoSlot()
	case err != nil:
		question.Kind, question.Node = noticeLeave, c.relay.cluster.self
		c.relay.cluster.outbox.publish(slotSubject(f.Slot), question)
		refused = errUnreachable()
	case !a.OK:
		refused = wire.Errorf(a.Kind, "%s", a.Message)
	default:
		return // pair_joined comes, or has come
	}
	_ = c.relay.dir.do(func() { // a stopped directory has nobody to tell
		if v := c.relay.dir.visits[f.Slot]; v != nil && v.conn == c {
			delete(c.relay.dir.visits, f.Slot)
			c.refuse(f.RequestID, refused)
		}
	})
}

// visit notes that c redeems a code of another node.
func (d *directory) visit(c *conn, f *wire.RedeemPair) *wire.Error {
	mine := 0
	for _, v := range d.visits {
		if v.conn == c {
			mine++
		}
	}
	switch {
	case c.party == nil:
		return errNoSlot()
	case d.visits[f.Slot] != nil:
		return wire.Errorf(wire.KindPairBusy, "this code is being used by another; ask for a new one")
	case mine >= d.relay.limits().SlotsPerConnection:
		return wire.Errorf(wire.KindLimit, "this connection has %d pairing codes open; finish or cancel one", mine)
	}
	d.visits[f.Slot] = &visit{conn: c, requestID: f.RequestID}
	return nil
}

// visited returns the trunk to the slot that c redeems, or nil.
func (d *directory) visited(c *conn, slot string) *trunk {
	if v := d.visits[slot]; v != nil && v.conn == c && v.node != "" {
		return d.relay.cluster.trunk(v.node)
	}
	return nil
}

// leaveVisitsOf ends what a connection that leaves had under way elsewhere.
func (d *directory) leaveVisitsOf(c *conn) {
	for name, v := range d.visits {
		if v.conn != c {
			continue
		}
		delete(d.visits, name)
		d.relay.cluster.outbox.publish(slotSubject(name), notice{
			Kind: noticeLeave, Node: d.relay.cluster.self, Slot: name, Client: c.asPeer(),
		})
	}
}

// redeemFar answers another node whose peer redeems a code.
func (d *directory) redeemFar(n notice) reply {
	s := d.slots[n.Slot]
	if s != nil && s.far(n.Node) != nil && s.far(n.Node).peer.ID == n.Client.ID {
		return d.yes() // asked twice
	}
	if err := s.redeemable(n.Client.ID, nil); err != nil {
		return refusal(err)
	}
	s.join(&farSide{cluster: d.relay.cluster, node: n.Node, peer: n.Client}, n.RequestID)
	return d.yes()
}

// heardLeave burns a slot whose redeemer on another node has gone.
func (d *directory) heardLeave(n notice) {
	if s := d.slots[n.Slot]; s != nil {
		if far := s.far(n.Node); far != nil && far.peer.ID == n.Client.ID && !s.writing {
			d.burn(s, wire.KindPairUnknown, "the other side went away; start again with a new code")
		}
	}
}

// far returns the redeemer if it is on that node, or nil.
func (s *slot) far(node string) *farSide {
	if far, ok := s.redeemer.(*farSide); ok && far.node == node {
		return far
	}
	return nil
}

// lostNode ends the pairings with a node whose trunk is gone. Any goroutine but
// the directory's may call it.
func (d *directory) lostNode(node string) {
	_ = d.do(func() { // a stopped directory has dropped them
		for _, s := range d.slots {
			if s.far(node) != nil && !s.writing {
				d.burn(s, wire.KindPairUnknown, "the other side went away; start again with a new code")
			}
		}
		for name, v := range d.visits {
			if v.node == node {
				delete(d.visits, name)
				v.conn.tell(&wire.PairClosed{Slot: name, Kind: wire.KindPairUnknown, Message: "the other side went away; start again with a new code"})
			}
		}
	})
}

// pairFrame handles a frame of a pairing that came on a trunk. One that fits no
// pairing is late and dropped.
func (d *directory) pairFrame(t *trunk, frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.PairMessage:
		if s := d.slots[f.Slot]; s != nil && s.far(t.node) != nil {
			_ = d.passPairMessage(s.redeemer, f) // a no means that it is over
		} else if v := d.visits[f.Slot]; v != nil && v.node == t.node {
			v.conn.tell(f)
		}
	case *wire.PairAccept:
		if s := d.slots[f.Slot]; s != nil && s.far(t.node) != nil {
			if ready, _ := d.acceptPair(s.redeemer, f); ready != nil {
				d.relay.tasks.Go(func() { d.relay.bind(ready) })
			}
		}
	case *wire.PairReject:
		if s := d.slots[f.Slot]; s != nil && s.far(t.node) != nil {
			_ = d.rejectPair(s.redeemer, f) // as above
		}
	case *wire.PairJoined:
		if v := d.visits[f.Slot]; v != nil && v.node == "" && v.requestID == f.RequestID {
			v.node, v.creator = t.node, f.Peer
			v.conn.tell(f)
		}
	case *wire.PairComplete:
		if v := d.visits[f.Slot]; v != nil && v.node == t.node {
			d.finishVisit(f.Slot, v)
		}
	case *wire.PairClosed:
		if v := d.visits[f.Slot]; v != nil && v.node == t.node {
			delete(d.visits, f.Slot)
			v.conn.tell(f)
		}
	}
}

// finishVisit ends a visit with a binding.
func (d *directory) finishVisit(name string, v *visit) {
	delete(d.visits, name)
	v.conn.tell(&wire.PairComplete{Slot: name, Peer: v.creator})
	if v.creator.ID.Kind() == ident.KindDevice {
		d.bound(v.creator, v.conn.asPeer(), v.node)
	} else {
		d.bound(v.conn.asPeer(), v.creator, d.relay.cluster.self)
	}
}
