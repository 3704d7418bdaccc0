package pairing

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// messageGone is sent to a side when the other one has left.
const messageGone = "the other side disconnected; start again with a new code"

// slot is a pairing in progress, on the node of its creator. The loop owns it.
//
//	open --redeem--> joined --both accept--> writing --> bound
//	  any state but writing: expiry, reject or loss of a side --> burnt
type slot struct {
	name     string
	creator  *conn.Conn
	redeemer pairSide // nil while open
	accepted [2]bool
	messages int
	writing  bool
	expires  time.Time
	expiry   *time.Timer
}

// pairSide is one side of a pairing: a connection of this node, or a peer of another.
type pairSide interface {
	Send(f wire.Frame)
	AsPeer() wire.Peer
}

func (s *slot) sides() []pairSide {
	if s.redeemer == nil {
		return []pairSide{s.creator}
	}
	return []pairSide{s.creator, s.redeemer}
}

// other returns the side that is not side, or nil.
func (s *slot) other(side pairSide) pairSide {
	switch {
	case side == pairSide(s.creator):
		return s.redeemer
	case side == s.redeemer:
		return s.creator
	}
	return nil
}

// redeemable returns an error if id may not be the other side of s, which may be nil. here
// says that id is connected to this node; otherwise the store checks its bindings. In the
// loop.
func (r *Registry) redeemable(s *slot, id ident.ID, here bool) *wire.Error {
	switch {
	case s == nil || s.writing:
		return errNoSlot()
	case s.creator.ID().Kind() == id.Kind():
		return wire.Errorf(wire.KindPairSelf, "this code was made by the same kind of device; pair a machine with a browser, phone or terminal")
	case s.redeemer != nil:
		return wire.Errorf(wire.KindPairBusy, "this code is already being used by someone else; ask for a new one")
	case !r.Directory.Present(s.creator):
		return errNoSlot()
	}
	if err := r.Directory.CheckRoom(s.creator.ID(), id); err != nil || !here {
		return err
	}
	return r.Directory.CheckRoom(id, s.creator.ID())
}

// join sends each side the other's identity.
func (s *slot) join(redeemer pairSide, requestID string) {
	s.redeemer = redeemer
	redeemer.Send(&wire.PairJoined{RequestID: requestID, Slot: s.name, Peer: s.creator.AsPeer()})
	s.creator.Send(&wire.PairJoined{Slot: s.name, Peer: redeemer.AsPeer()})
}

// nodeOf is the node that a side is connected to.
func (s *slot) nodeOf(side ident.ID, self string) string {
	if far, ok := s.redeemer.(*farSide); ok && far.peer.ID == side {
		return far.node
	}
	return self
}

// freeSlot draws names until one is free. In the loop.
func (r *Registry) freeSlot() string {
	for {
		var raw [4]byte
		rand.Read(raw[:])
		bits := binary.BigEndian.Uint32(raw[:])
		var name [wire.SlotLen]byte
		for i := range name {
			name[i] = wire.Crockford[bits>>(5*i)&31]
		}
		if _, taken := r.slots[string(name[:])]; !taken {
			return string(name[:])
		}
	}
}

// burn ends a slot without a binding. In the loop.
func (r *Registry) burn(s *slot, kind wire.Kind, message string) {
	r.remove(s)
	r.Metrics.Pairs.WithLabelValues(kind.String()).Inc()
	for _, side := range s.sides() {
		side.Send(&wire.PairClosed{Slot: s.name, Kind: kind, Message: message})
	}
}

// remove forgets a slot. In the loop.
func (r *Registry) remove(s *slot) {
	s.expiry.Stop()
	if r.slots[s.name] == s {
		delete(r.slots, s.name)
		r.Cluster.Unsubscribe(cluster.SlotSubject(s.name))
	}
	for _, side := range s.sides() {
		c, ok := side.(*conn.Conn)
		if !ok {
			continue
		}
		if r.of[c] = slices.DeleteFunc(r.of[c], func(other *slot) bool { return other == s }); len(r.of[c]) == 0 {
			delete(r.of, c)
		}
	}
}

// expire burns a slot whose time is over. In the loop.
func (r *Registry) expire(s *slot) {
	if r.slots[s.name] == s && !s.writing {
		r.burn(s, wire.KindPairUnknown, "the code has expired; ask for a new one")
	}
}

// Leave ends the pairings in progress of a connection. A binding that is being
// written stays: both sides have accepted it. In the loop.
func (r *Registry) Leave(c *conn.Conn) {
	for _, s := range slices.Clone(r.of[c]) {
		if !s.writing {
			r.burn(s, wire.KindPairUnknown, messageGone)
		}
	}
	r.leaveVisits(c)
}
