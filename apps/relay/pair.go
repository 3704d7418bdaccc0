package relay

import (
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

func errNoSlot() *wire.Error {
	return wire.Errorf(wire.KindPairUnknown, "no such code: it is mistyped, used or expired; ask for a new one")
}

// allowPair counts one attempt to pair.
func (c *conn) allowPair() *wire.Error {
	if c.relay.guards.mayPair(c.id, c.addr) {
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
		refused = errClosingDown()
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
	for {
		var s *slot
		c.inDirectory(f.RequestID, func(d *directory) (refused *wire.Error) {
			s, refused = d.createSlot(c)
			return refused
		})
		if s == nil {
			return // and was told why
		}
		taken := c.relay.takenElsewhere(s)
		done := c.relay.dir.do(func() {
			switch {
			case c.relay.dir.slots[s.name] != s: // the connection has ended meanwhile
				taken = false
			case taken:
				c.relay.dir.remove(s)
			default:
				c.tell(&wire.PairSession{RequestID: f.RequestID, Slot: s.name, ExpiresAt: s.expires.UnixMilli()})
			}
		})
		if done != nil || !taken {
			return
		}
	}
}

func (d *directory) createSlot(c *conn) (*slot, *wire.Error) {
	limits := d.relay.limits()
	switch {
	case len(c.slots) >= limits.SlotsPerConnection:
		return nil, wire.Errorf(wire.KindLimit, "this connection has %d pairing codes open; finish or cancel one", len(c.slots))
	case len(d.slots) >= maxSlots:
		return nil, wire.Errorf(wire.KindLimit, "the relay has no free pairing code; try again in ten minutes")
	}
	s := &slot{name: d.freeSlot(), creator: c, expires: time.Now().Add(limits.PairTimeout)}
	s.expiry = time.AfterFunc(limits.PairTimeout, func() {
		_ = d.do(func() { d.expire(s) }) // a stopped directory has dropped it
	})
	d.slots[s.name] = s
	c.slots = append(c.slots, s)
	d.relay.cluster.outbox.subscribe(slotSubject(s.name))
	return s, nil
}

func (c *conn) redeemPair(f *wire.RedeemPair) {
	if err := c.allowPair(); err != nil {
		c.refuse(f.RequestID, err)
		return
	}
	elsewhere := false
	c.inDirectory(f.RequestID, func(d *directory) *wire.Error {
		if d.slots[f.Slot] == nil && !d.relay.cluster.alone {
			elsewhere = true
			return nil
		}
		return d.redeemSlot(c, f)
	})
	if elsewhere {
		c.redeemElsewhere(f)
	}
}

func (d *directory) redeemSlot(c *conn, f *wire.RedeemPair) *wire.Error {
	s := d.slots[f.Slot]
	if c.party == nil {
		return errNoSlot()
	}
	if err := s.redeemable(c.id, c.party); err != nil {
		return err
	}
	c.slots = append(c.slots, s)
	s.join(c, f.RequestID)
	return nil
}

// asPeer is what the other side learns of c. A side of a pairing is connected.
func (c *conn) asPeer() wire.Peer {
	peer := c.self
	peer.Online = c.id.Kind() == ident.KindDevice
	return peer
}

// joined returns the slot if side is one of it and both sides are there.
func (d *directory) joined(side pairSide, name string) (*slot, *wire.Error) {
	s := d.slots[name]
	if s == nil || s.other(side) == nil || s.writing {
		return nil, errNoSlot()
	}
	return s, nil
}

func (c *conn) passPairMessage(f *wire.PairMessage) {
	c.inDirectory("", func(d *directory) *wire.Error {
		if t := d.visited(c, f.Slot); t != nil {
			t.tell(f)
			return nil
		}
		return d.passPairMessage(c, f)
	})
}

func (d *directory) passPairMessage(from pairSide, f *wire.PairMessage) *wire.Error {
	s, err := d.joined(from, f.Slot)
	if err != nil {
		return err
	}
	if s.messages++; s.messages > maxPairMessages {
		d.burn(s, wire.KindLimit, "too many messages for one pairing")
		return nil
	}
	s.other(from).tell(f)
	return nil
}

func (c *conn) rejectPair(f *wire.PairReject) {
	c.inDirectory("", func(d *directory) *wire.Error {
		if t := d.visited(c, f.Slot); t != nil {
			t.tell(f) // pair_closed comes back
			return nil
		}
		return d.rejectPair(c, f)
	})
}

func (d *directory) rejectPair(from pairSide, f *wire.PairReject) *wire.Error {
	s := d.slots[f.Slot]
	if s == nil || pairSide(s.creator) != from && s.redeemer != from || s.writing {
		return errNoSlot()
	}
	d.burn(s, wire.KindBadProof, "the pairing was refused; the codes did not match or someone said no")
	return nil
}

// acceptPair notes one side's yes. The second one writes the binding, in the
// reader of whoever said it: the directory never waits for the store.
func (c *conn) acceptPair(f *wire.PairAccept) {
	var ready *slot
	c.inDirectory("", func(d *directory) (refused *wire.Error) {
		if t := d.visited(c, f.Slot); t != nil {
			t.tell(f)
			return nil
		}
		ready, refused = d.acceptPair(c, f)
		return refused
	})
	if ready != nil {
		c.relay.bind(ready)
	}
}

// acceptPair returns the slot when its binding is to be written.
func (d *directory) acceptPair(from pairSide, f *wire.PairAccept) (*slot, *wire.Error) {
	s, err := d.joined(from, f.Slot)
	if err != nil {
		return nil, err
	}
	s.accepted[slices.Index(s.sides(), from)] = true
	if s.accepted != [2]bool{true, true} {
		return nil, nil
	}
	s.writing = true
	return s, nil
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
		r.storeFailed(storeBind, err)
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
		r.cluster.outbox.publish(subjectNews, notice{
			Kind: noticeBound, Device: device, Client: client, Slot: s.name, Node: s.nodeOf(device.ID, r.cluster.self),
		})
		r.recheck(device.ID, client.ID)
	}
}

// recheck reads the bindings of both sides again. One of them may have ended the new
// one after the store had it and before the directory heard of it, which would leave
// the directory with what the store does not have any more.
func (r *Relay) recheck(ids ...ident.ID) {
	for _, id := range ids {
		if err := r.reread(id); err != nil && !errors.Is(err, errStopped) {
			r.storeFailed(storeCheck, err)
		}
	}
}

func asParty(p wire.Peer) store.Party { return store.Party{ID: p.ID, Public: p.Public, Label: p.Label} }

// complete ends a slot with a binding.
func (d *directory) complete(s *slot, device, client wire.Peer) {
	d.remove(s)
	d.relay.metrics.pairs.WithLabelValues(resultOK).Inc()
	s.creator.tell(&wire.PairComplete{Slot: s.name, Peer: s.redeemer.asPeer()})
	s.redeemer.tell(&wire.PairComplete{Slot: s.name, Peer: s.creator.asPeer()})
	d.bound(device, client, s.nodeOf(device.ID, d.relay.cluster.self))
}
