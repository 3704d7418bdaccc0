package relay

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// maxPairMessages is how many messages each pairing may pass on: nonces and
	// tags both ways with room to grow.
	maxPairMessages = 32
	// maxSlots keeps half of the 2^20 slots free, so that a free one is found at
	// the second draw on average and a guess hits nothing half of the time.
	maxSlots = 1 << 19
)

// slot is one pairing under way. The directory's goroutine owns it.
//
//	open --redeem--> joined --both accept--> writing --> bound
//	  any state but writing: expiry, reject or loss of a side --> burnt
type slot struct {
	name     string
	creator  *conn
	redeemer *conn // nil while open
	accepted [2]bool
	messages int
	writing  bool
	expiry   *time.Timer
}

func (s *slot) sides() []*conn {
	if s.redeemer == nil {
		return []*conn{s.creator}
	}
	return []*conn{s.creator, s.redeemer}
}

// other returns the side that is not c, or nil.
func (s *slot) other(c *conn) *conn {
	switch c {
	case s.creator:
		return s.redeemer
	case s.redeemer:
		return s.creator
	}
	return nil
}

func errNoSlot() *wire.Error {
	return wire.Errorf(wire.KindPairUnknown, "no such code: it is mistyped, used or expired; ask for a new one")
}

// allowPair counts one attempt to pair against the address and the identity.
func (c *conn) allowPair() *wire.Error {
	if c.relay.guards.pairAddrs.take(c.addr) && c.relay.guards.pairIDs.take(c.id) {
		return nil
	}
	c.relay.metrics.pairs.WithLabelValues(wire.KindRateLimited.String()).Inc()
	return wire.Errorf(wire.KindRateLimited, "too many attempts to pair; wait a few minutes")
}

// inDirectory runs a step of a request in the directory and refuses the request
// when the step does.
func (c *conn) inDirectory(requestID string, step func(d *directory) *wire.Error) {
	var refused *wire.Error
	if err := c.relay.dir.do(func() { refused = step(c.relay.dir) }); err != nil {
		refused = wire.Errorf(wire.KindShuttingDown, "the relay is shutting down; come back")
	}
	if refused != nil {
		c.refuse(requestID, refused)
	}
}

func (c *conn) createPair(f *wire.CreatePairSession) {
	if err := c.allowPair(); err != nil {
		c.refuse(f.RequestID, err)
		return
	}
	c.inDirectory(f.RequestID, func(d *directory) *wire.Error { return d.createSlot(c, f.RequestID) })
}

func (d *directory) createSlot(c *conn, requestID string) *wire.Error {
	limits := d.relay.cfg.Limits
	switch {
	case len(c.slots) >= limits.SlotsPerConnection:
		return wire.Errorf(wire.KindLimit, "this connection has %d pairing codes open; finish or cancel one", len(c.slots))
	case len(d.slots) >= maxSlots:
		return wire.Errorf(wire.KindLimit, "the relay has no free pairing code; try again in ten minutes")
	}
	s := &slot{name: d.freeSlot(), creator: c}
	s.expiry = time.AfterFunc(limits.PairTimeout, func() {
		_ = d.do(func() { d.expire(s) }) // a stopped directory has dropped it
	})
	d.slots[s.name] = s
	c.slots = append(c.slots, s)
	c.tell(&wire.PairSession{
		RequestID: requestID, Slot: s.name,
		ExpiresAt: time.Now().Add(limits.PairTimeout).UnixMilli(),
	})
	return nil
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

func (c *conn) redeemPair(f *wire.RedeemPair) {
	if err := c.allowPair(); err != nil {
		c.refuse(f.RequestID, err)
		return
	}
	c.inDirectory(f.RequestID, func(d *directory) *wire.Error { return d.redeemSlot(c, f) })
}

func (d *directory) redeemSlot(c *conn, f *wire.RedeemPair) *wire.Error {
	s := d.slots[f.Slot]
	switch {
	case s == nil:
		return errNoSlot()
	case s.creator.id.Kind() == c.id.Kind():
		return wire.Errorf(wire.KindPairSelf, "a device pairs with a browser, phone or terminal, not with another of its kind")
	case s.redeemer != nil:
		return wire.Errorf(wire.KindPairBusy, "this code is being used by another; ask for a new one")
	case c.party == nil || s.creator.party == nil:
		return errNoSlot()
	}
	for _, pair := range [][2]*conn{{c, s.creator}, {s.creator, c}} {
		_, renewed := pair[0].party.grants[pair[1].id]
		if n := len(pair[0].party.grants); n >= wire.MaxBindings && !renewed {
			return wire.Errorf(wire.KindLimit, "%s has %d pairings; remove one first", pair[0].id, n)
		}
	}
	s.redeemer = c
	c.slots = append(c.slots, s)
	c.tell(&wire.PairJoined{RequestID: f.RequestID, Slot: s.name, Peer: s.creator.asPeer()})
	s.creator.tell(&wire.PairJoined{Slot: s.name, Peer: c.asPeer()})
	return nil
}

// asPeer is what the other side learns of c. A side of a pairing is connected.
func (c *conn) asPeer() wire.Peer {
	peer := c.self
	peer.Online = c.id.Kind() == ident.KindDevice
	return peer
}

// joined returns the slot if c is a side of it and both sides are there.
func (d *directory) joined(c *conn, name string) (*slot, *wire.Error) {
	s := d.slots[name]
	if s == nil || s.other(c) == nil || s.writing {
		return nil, errNoSlot()
	}
	return s, nil
}

func (c *conn) passPairMessage(f *wire.PairMessage) {
	c.inDirectory("", func(d *directory) *wire.Error {
		s, err := d.joined(c, f.Slot)
		if err != nil {
			return err
		}
		if s.messages++; s.messages > maxPairMessages {
			d.burn(s, wire.KindLimit, "too many messages for one pairing")
			return nil
		}
		s.other(c).tell(f)
		return nil
	})
}

func (c *conn) rejectPair(f *wire.PairReject) {
	c.inDirectory("", func(d *directory) *wire.Error {
		s := d.slots[f.Slot]
		if s == nil || s.creator != c && s.redeemer != c || s.writing {
			return errNoSlot()
		}
		d.burn(s, wire.KindBadProof, "the pairing was refused; the codes did not match or someone said no")
		return nil
	})
}

// acceptPair notes one side's yes. The second one writes the binding, in the
// reader of whoever said it: the directory never waits for the store.
func (c *conn) acceptPair(f *wire.PairAccept) {
	var ready *slot
	c.inDirectory("", func(d *directory) *wire.Error {
		s, err := d.joined(c, f.Slot)
		if err != nil {
			return err
		}
		s.accepted[slices.Index(s.sides(), c)] = true
		if s.accepted == [2]bool{true, true} {
			s.writing = true
			ready = s
		}
		return nil
	})
	if ready != nil {
		c.relay.bind(ready)
	}
}

// bind writes the binding of a slot that both sides accepted, and tells.
func (r *Relay) bind(s *slot) {
	device, client := s.creator.asPeer(), s.redeemer.asPeer()
	if device.ID.Kind() == ident.KindClient {
		device, client = client, device
	}
	ctx, cancel := r.storeContext()
	defer cancel()
	err := r.cfg.Store.Bind(ctx, asParty(device), asParty(client), time.Now())
	if err != nil && !errors.Is(err, store.ErrLimit) {
		r.storeFailed("bind", err)
	}
	_ = r.dir.do(func() { // a stopped directory has nobody to tell
		s.writing = false
		switch {
		case errors.Is(err, store.ErrLimit):
			r.dir.burn(s, wire.KindLimit, "one side has too many pairings; remove one first")
		case err != nil:
			r.dir.burn(s, wire.KindUnavailable, "the relay could not write the pairing down; try again later")
		default:
			r.dir.complete(s, device, client)
		}
	})
	if err == nil {
		r.log.Info("binding written", "device", device.ID, "client", client.ID)
		r.publish(notice{Kind: noticeBound, Device: device, Client: client})
	}
}

func asParty(p wire.Peer) store.Party { return store.Party{ID: p.ID, Public: p.Public, Label: p.Label} }

// complete ends a slot with a binding.
func (d *directory) complete(s *slot, device, client wire.Peer) {
	d.remove(s)
	d.relay.metrics.pairs.WithLabelValues(resultOK).Inc()
	s.creator.tell(&wire.PairComplete{Slot: s.name, Peer: s.redeemer.asPeer()})
	s.redeemer.tell(&wire.PairComplete{Slot: s.name, Peer: s.creator.asPeer()})
	d.bound(device, client)
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
	}
	for _, c := range s.sides() {
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
