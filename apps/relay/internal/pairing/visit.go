package pairing

import (
	"errors"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// visit is a pairing of another node that a peer of this node redeems. The loop owns it.
//
//	asked --pair_joined--> joined --pair_complete, pair_closed--> gone
//	  any state: refusal, loss of a side or of the node --> gone
type visit struct {
	conn      *conn.Conn
	requestID string
	node      string    // where the slot is; "" until joined
	creator   wire.Peer // the other side, once joined
}

// farSide is the redeemer of a slot on another node.
type farSide struct {
	cluster *cluster.Cluster
	node    string
	peer    wire.Peer
}

// Send sends a frame to the redeemer's node.
func (f *farSide) Send(frame wire.Frame) { f.cluster.Trunk(f.node).Send(frame) }

// AsPeer is the redeemer as the creator sees it.
func (f *farSide) AsPeer() wire.Peer { return f.peer }

// takenElsewhere reports whether another node has drawn the same code. If the bus
// does not answer, the code can be redeemed on this node only.
func (r *Registry) takenElsewhere(s *slot) bool {
	if !r.Cluster.Reachable() {
		return false
	}
	select {
	case <-r.Cluster.Settled(): // a node that draws the same code from now on finds this one
	case <-time.After(cluster.AskTimeout):
	}
	a, err := r.Cluster.Ask(cluster.SlotSubject(s.name), cluster.Notice{Kind: cluster.NoticeTaken, Slot: s.name, Once: true})
	return err == nil && a.OK
}

// redeemElsewhere looks for the code on the other nodes.
func (r *Registry) redeemElsewhere(c *conn.Conn, f *wire.RedeemPair) {
	var refused *wire.Error
	if err := r.Loop.Do(func() { refused = r.visit(c, f) }); err != nil {
		refused = conn.ErrShuttingDown()
	}
	if refused != nil {
		c.Refuse(f.RequestID, refused)
		return
	}
	question := cluster.Notice{Kind: cluster.NoticeRedeem, Slot: f.Slot, RequestID: f.RequestID, Client: c.AsPeer()}
	a, err := r.Cluster.Ask(cluster.SlotSubject(f.Slot), question)
	switch {
	case errors.Is(err, bus.ErrNoResponders):
		refused = errNoSlot()
	case err != nil:
		question.Kind, question.Node = cluster.NoticeLeave, r.Cluster.Self()
		r.Cluster.Publish(cluster.SlotSubject(f.Slot), question)
		refused = cluster.ErrUnreachable()
	case !a.OK:
		refused = wire.Errorf(a.Kind, "%s", a.Message)
	default:
		return // pair_joined has arrived or will arrive
	}
	_ = r.Loop.Do(func() { // a stopped loop has no visits
		if v := r.visits[f.Slot]; v != nil && v.conn == c {
			delete(r.visits, f.Slot)
			c.Refuse(f.RequestID, refused)
		}
	})
}

// visit notes that c redeems a code of another node. In the loop.
func (r *Registry) visit(c *conn.Conn, f *wire.RedeemPair) *wire.Error {
	mine := 0
	for _, v := range r.visits {
		if v.conn == c {
			mine++
		}
	}
	switch {
	case !r.Directory.Present(c):
		return errNoSlot()
	case r.visits[f.Slot] != nil:
		return wire.Errorf(wire.KindPairBusy, "this code is already being used by someone else; ask for a new one")
	case mine >= r.Limits().SlotsPerConnection:
		return wire.Errorf(wire.KindLimit, "this connection has %d pairing codes open; finish or cancel one", mine)
	}
	r.visits[f.Slot] = &visit{conn: c, requestID: f.RequestID}
	return nil
}

// visited returns the trunk to the slot that c redeems, or nil. In the loop.
func (r *Registry) visited(c *conn.Conn, slot string) *cluster.Trunk {
	if v := r.visits[slot]; v != nil && v.conn == c && v.node != "" {
		return r.Cluster.Trunk(v.node)
	}
	return nil
}

// leaveVisits ends a connection's pairings on other nodes. In the loop.
func (r *Registry) leaveVisits(c *conn.Conn) {
	for name, v := range r.visits {
		if v.conn != c {
			continue
		}
		delete(r.visits, name)
		r.Cluster.Publish(cluster.SlotSubject(name), cluster.Notice{
			Kind: cluster.NoticeLeave, Node: r.Cluster.Self(), Slot: name, Client: c.AsPeer(),
		})
	}
}

// Taken reports whether a slot of this node has a name. In the loop.
func (r *Registry) Taken(slot string) bool { return r.slots[slot] != nil }

// RedeemForNode answers another node whose peer redeems a code. In the loop.
func (r *Registry) RedeemForNode(n cluster.Notice) cluster.Reply {
	s := r.slots[n.Slot]
	if s != nil && s.far(n.Node) != nil && s.far(n.Node).peer.ID == n.Client.ID {
		return r.Cluster.Yes() // asked twice
	}
	if err := r.redeemable(s, n.Client.ID, false); err != nil {
		return cluster.Refusal(err)
	}
	s.join(&farSide{cluster: r.Cluster, node: n.Node, peer: n.Client}, n.RequestID)
	return r.Cluster.Yes()
}

// ApplyLeave burns a slot whose redeemer on another node has left. In the loop.
func (r *Registry) ApplyLeave(n cluster.Notice) {
	if s := r.slots[n.Slot]; s != nil {
		if far := s.far(n.Node); far != nil && far.peer.ID == n.Client.ID && !s.writing {
			r.burn(s, wire.KindPairUnknown, messageGone)
		}
	}
}

// ApplyBound completes the visit whose binding another node has written. The frame on the
// trunk does the same: the first of both wins. In the loop.
func (r *Registry) ApplyBound(n cluster.Notice) {
	if v := r.visits[n.Slot]; v != nil && v.node != "" {
		r.finishVisit(n.Slot, v)
	}
}

// far returns the redeemer if it is on a node, or nil.
func (s *slot) far(node string) *farSide {
	if far, ok := s.redeemer.(*farSide); ok && far.node == node {
		return far
	}
	return nil
}

// NodeLost ends the pairings with a node whose trunk is gone.
func (r *Registry) NodeLost(node string) {
	_ = r.Loop.Do(func() { // a stopped loop has no pairings
		for _, s := range r.slots {
			if s.far(node) != nil && !s.writing {
				r.burn(s, wire.KindPairUnknown, messageGone)
			}
		}
		for name, v := range r.visits {
			if v.node == node {
				delete(r.visits, name)
				v.conn.Send(&wire.PairClosed{Slot: name, Kind: wire.KindPairUnknown, Message: messageGone})
			}
		}
	})
}

// TrunkFrame handles a pairing frame that arrived on a trunk. One that matches no
// pairing is late and is dropped. In the loop.
func (r *Registry) TrunkFrame(t *cluster.Trunk, frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.PairMessage:
		if s := r.farSlot(t, f.Slot); s != nil {
			_ = r.passMessage(s.redeemer, f) // an error means that the pairing is over
		} else if v := r.joinedVisit(t, f.Slot); v != nil {
			v.conn.Send(f)
		}
	case *wire.PairAccept:
		if s := r.farSlot(t, f.Slot); s != nil {
			if ready, _ := r.accept(s.redeemer, f); ready != nil {
				r.tasks.Go(func() { r.bind(ready) })
			}
		}
	case *wire.PairReject:
		if s := r.farSlot(t, f.Slot); s != nil {
			_ = r.reject(s.redeemer, f) // an error means that the pairing is over
		}
	case *wire.PairJoined:
		if v := r.visits[f.Slot]; v != nil && v.node == "" && v.requestID == f.RequestID {
			v.node, v.creator = t.Node(), f.Peer
			v.conn.Send(f)
		}
	case *wire.PairComplete:
		if v := r.joinedVisit(t, f.Slot); v != nil {
			r.finishVisit(f.Slot, v)
		}
	case *wire.PairClosed:
		if v := r.joinedVisit(t, f.Slot); v != nil {
			delete(r.visits, f.Slot)
			v.conn.Send(f)
		}
	}
}

// farSlot returns the slot that a peer of the trunk's node redeems, or nil.
func (r *Registry) farSlot(t *cluster.Trunk, name string) *slot {
	if s := r.slots[name]; s != nil && s.far(t.Node()) != nil {
		return s
	}
	return nil
}

// joinedVisit returns the visit to a slot of the trunk's node, or nil.
func (r *Registry) joinedVisit(t *cluster.Trunk, name string) *visit {
	if v := r.visits[name]; v != nil && v.node == t.Node() {
		return v
	}
	return nil
}

// finishVisit ends a visit with a binding. In the loop.
func (r *Registry) finishVisit(name string, v *visit) {
	delete(r.visits, name)
	v.conn.Send(&wire.PairComplete{Slot: name, Peer: v.creator})
	if v.creator.ID.Kind() == ident.KindDevice {
		r.Directory.Bound(v.creator, v.conn.AsPeer(), v.node)
	} else {
		r.Directory.Bound(v.conn.AsPeer(), v.creator, r.Cluster.Self())
	}
}
