package relay

import (
	"crypto/rand"
	"encoding/binary"
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
