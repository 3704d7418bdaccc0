package relay

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// slot is one pairing under way, at the node of its creator. The directory's
// goroutine owns it.
//
//	open --redeem--> joined --both accept--> writing --> bound
//	  any state but writing: expiry, reject or loss of a side --> burnt
type slot struct {
	name     string
	creator  *conn
	redeemer pairSide // nil while open
	accepted [2]bool
	messages int
	writing  bool
	expires  time.Time
	expiry   *time.Timer
}

// pairSide is one side of a pairing: a connection of this node, or a peer of
// another.
type pairSide interface {
	tell(f wire.Frame)
	asPeer() wire.Peer
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

// redeemable tells why id may not be the other side, or nil. redeemer is nil when
// it is on another node; the store is the judge of its bindings then.
func (s *slot) redeemable(id ident.ID, redeemer *party) *wire.Error {
	switch {
	case s == nil || s.writing:
		return errNoSlot()
	case s.creator.id.Kind() == id.Kind():
		return wire.Errorf(wire.KindPairSelf, "a device pairs with a browser, phone or terminal, not with another of its kind")
	case s.redeemer != nil:
		return wire.Errorf(wire.KindPairBusy, "this code is being used by another; ask for a new one")
	case s.creator.party == nil:
		return errNoSlot()
	}
	if err := s.creator.party.roomForBinding(id); err != nil || redeemer == nil {
		return err
	}
	return redeemer.roomForBinding(s.creator.id)
}

func (p *party) roomForBinding(with ident.ID) *wire.Error {
	_, renewed := p.grants[with]
	if n := len(p.grants); n >= wire.MaxBindings && !renewed {
		return wire.Errorf(wire.KindLimit, "%s has %d pairings; remove one first", p.id, n)
	}
	return nil
}

// join tells both sides who the other is.
func (s *slot) join(redeemer pairSide, requestID string) {
	s.redeemer = redeemer
	redeemer.tell(&wire.PairJoined{RequestID: requestID, Slot: s.name, Peer: s.creator.asPeer()})
	s.creator.tell(&wire.PairJoined{Slot: s.name, Peer: redeemer.asPeer()})
}

// nodeOf is where a side is.
func (s *slot) nodeOf(side ident.ID, self string) string {
	if far, ok := s.redeemer.(*farSide); ok && far.peer.ID == side {
		return far.node
	}
	return self
}

// freeSlot draws until it finds a slot that is not taken.
func (d *directory) freeSlot() string {
	for {
		var raw [4]byte
		rand.Read(raw[:])
		bits := binary.BigEndian.Uint32(raw[:])
		var name [wire.SlotLen]byte
		for i := range name {
			name[i] = wire.Crockford[bits>>(5*i)&31]
		}
		if _, taken := d.slots[string(name[:])]; !taken {
			return string(name[:])
		}
	}
}

// burn ends a slot without a binding.
func (d *directory) burn(s *slot, kind wire.Kind, message string) {
	d.remove(s)
	d.relay.metrics.pairs.WithLabelValues(kind.String()).Inc()
	for _, c := range s.sides() {
		c.tell(&wire.PairClosed{Slot: s.name, Kind: kind, Message: message})
	}
}

func (d *directory) remove(s *slot) {
	s.expiry.Stop()
	if d.slots[s.name] == s {
		delete(d.slots, s.name)
		d.relay.cluster.outbox.unsubscribe(slotSubject(s.name))
	}
	for _, side := range s.sides() {
		c, ok := side.(*conn)
		if !ok {
			continue
		}
		c.slots = slices.DeleteFunc(c.slots, func(other *slot) bool { return other == s })
	}
}

func (d *directory) expire(s *slot) {
	if d.slots[s.name] == s && !s.writing {
		d.burn(s, wire.KindPairUnknown, "the code has expired; ask for a new one")
	}
}

// burnSlotsOf burns what a connection that leaves had under way. A binding that
// is being written stays: both sides have said yes.
func (d *directory) burnSlotsOf(c *conn) {
	for _, s := range slices.Clone(c.slots) {
		if !s.writing {
			d.burn(s, wire.KindPairUnknown, "the other side went away; start again with a new code")
		}
	}
}

// dropSlots stops the clocks when the directory ends.
func (d *directory) dropSlots() {
	for _, s := range d.slots {
		s.expiry.Stop()
	}
}
