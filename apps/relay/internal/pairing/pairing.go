// Package pairing introduces a device and a client to each other: one of them
// creates a pairing code, whose first part names a slot, and the other redeems it. The
// relay passes their messages on, which it cannot read, and writes the binding when both
// sides have accepted.
//
// A pairing lives on the node of its creator, as a slot. If the redeemer is on another
// node, that node keeps a visit and passes the frames of both directions on, and a farSide
// stands for the redeemer on the creator's node.
//
// All state belongs to the relay's loop. Methods whose comment says "in the loop" must be
// called by a function that the loop runs, and do not block. All other methods may block,
// and must not be called in the loop.
package pairing

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/directory"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxMessages is how many messages each pairing may pass on: nonces and tags in both
// directions, with room to grow.
const maxMessages = 32

// Config is what New makes a Registry from.
type Config struct {
	Loop      *loop.Loop
	Cluster   *cluster.Cluster
	Directory *directory.Directory
	Store     *directory.Store
	Log       *slog.Logger
	Metrics   *metrics.Metrics
	Guards    *limits.Guards
	Limits    func() *limits.Limits // the current ones
}

// Registry holds all pairings of one node.
type Registry struct {
	Config
	tasks sync.WaitGroup // bindings that are being written for another node

	// Owned by the loop.
	slots  map[string]*slot
	visits map[string]*visit      // pairing codes of other nodes that a peer here redeems
	of     map[*conn.Conn][]*slot // open slots of each connection
}

// New returns a registry without pairings.
func New(cfg Config) *Registry {
	return &Registry{
		Config: cfg,
		slots:  make(map[string]*slot),
		visits: make(map[string]*visit),
		of:     make(map[*conn.Conn][]*slot),
	}
}

// Wait returns when no binding is being written. No peer is connected by then.
func (r *Registry) Wait() { r.tasks.Wait() }

// Close stops the timers of all slots. The loop has stopped.
func (r *Registry) Close() {
	for _, s := range r.slots {
		s.expiry.Stop()
	}
}

func errNoSlot() *wire.Error {
	return wire.Errorf(wire.KindPairUnknown, "no such code: it is mistyped, used or expired; ask for a new one")
}

// allow counts one attempt to pair.
func (r *Registry) allow(c *conn.Conn) *wire.Error {
	if r.Guards.MayPair(c.ID(), c.Addr()) {
		return nil
	}
	r.Metrics.Pairs.WithLabelValues(wire.KindRateLimited.String()).Inc()
	return wire.Errorf(wire.KindRateLimited, "too many attempts to pair; wait a few minutes")
}

// inLoop runs a step of a request in the loop, and refuses the request if the step does.
func (r *Registry) inLoop(c *conn.Conn, requestID string, step func() *wire.Error) {
	var refused *wire.Error
	if err := r.Loop.Do(func() { refused = step() }); err != nil {
		refused = conn.ErrShuttingDown()
	}
	if refused != nil {
		c.Refuse(requestID, refused)
	}
}

// Create answers create_pair_session.
func (r *Registry) Create(c *conn.Conn, f *wire.CreatePairSession) {
	if err := r.allow(c); err != nil {
		c.Refuse(f.RequestID, err)
		return
	}
	for {
		var s *slot
		r.inLoop(c, f.RequestID, func() (refused *wire.Error) {
			s, refused = r.createSlot(c)
			return refused
		})
		if s == nil {
			return // the request was refused
		}
		taken := r.takenElsewhere(s)
		stopped := r.Loop.Do(func() {
			switch {
			case r.slots[s.name] != s: // the connection has ended in the meantime
				taken = false
			case taken:
				r.remove(s)
			default:
				c.Send(&wire.PairSession{RequestID: f.RequestID, Slot: s.name, ExpiresAt: s.expires.UnixMilli()})
			}
		})
		if stopped != nil || !taken {
			return
		}
	}
}

// createSlot returns a slot whose name no other slot of this node has. In the loop.
func (r *Registry) createSlot(c *conn.Conn) (*slot, *wire.Error) {
	most := r.Limits()
	switch n := len(r.of[c]); {
	case n >= most.SlotsPerConnection:
		return nil, wire.Errorf(wire.KindLimit, "this connection has %d pairing codes open; finish or cancel one", n)
	case len(r.slots) >= limits.MaxSlots:
		return nil, wire.Errorf(wire.KindLimit, "the relay has no free pairing code; try again in ten minutes")
	}
	s := &slot{name: r.freeSlot(), creator: c, expires: time.Now().Add(most.PairTimeout)}
	s.expiry = time.AfterFunc(most.PairTimeout, func() {
		_ = r.Loop.Do(func() { r.expire(s) }) // a stopped loop has no slots
	})
	r.slots[s.name] = s
	r.of[c] = append(r.of[c], s)
	r.Cluster.Subscribe(cluster.SlotSubject(s.name))
	return s, nil
}

// Redeem answers redeem_pair.
func (r *Registry) Redeem(c *conn.Conn, f *wire.RedeemPair) {
	if err := r.allow(c); err != nil {
		c.Refuse(f.RequestID, err)
		return
	}
	elsewhere := false
	r.inLoop(c, f.RequestID, func() *wire.Error {
		if r.slots[f.Slot] == nil && !r.Cluster.Alone {
			elsewhere = true
			return nil
		}
		return r.redeemSlot(c, f)
	})
	if elsewhere {
		r.redeemElsewhere(c, f)
	}
}

func (r *Registry) redeemSlot(c *conn.Conn, f *wire.RedeemPair) *wire.Error {
	s := r.slots[f.Slot]
	if !r.Directory.Present(c) {
		return errNoSlot()
	}
	if err := r.redeemable(s, c.ID(), true); err != nil {
		return err
	}
	r.of[c] = append(r.of[c], s)
	s.join(c, f.RequestID)
	return nil
}

// joined returns the slot if side is part of it and both sides are there. In the loop.
func (r *Registry) joined(side pairSide, name string) (*slot, *wire.Error) {
	s := r.slots[name]
	if s == nil || s.other(side) == nil || s.writing {
		return nil, errNoSlot()
	}
	return s, nil
}

// PassMessage forwards pair_message.
func (r *Registry) PassMessage(c *conn.Conn, f *wire.PairMessage) {
	r.inLoop(c, "", func() *wire.Error {
		if t := r.visited(c, f.Slot); t != nil {
			t.Send(f)
			return nil
		}
		return r.passMessage(c, f)
	})
}

func (r *Registry) passMessage(from pairSide, f *wire.PairMessage) *wire.Error {
	s, err := r.joined(from, f.Slot)
	if err != nil {
		return err
	}
	if s.messages++; s.messages > maxMessages {
		r.burn(s, wire.KindLimit, "too many messages for one pairing")
		return nil
	}
	s.other(from).Send(f)
	return nil
}

// Reject handles pair_reject.
func (r *Registry) Reject(c *conn.Conn, f *wire.PairReject) {
	r.inLoop(c, "", func() *wire.Error {
		if t := r.visited(c, f.Slot); t != nil {
			t.Send(f) // the other node answers with pair_closed
			return nil
		}
		return r.reject(c, f)
	})
}

func (r *Registry) reject(from pairSide, f *wire.PairReject) *wire.Error {
	s := r.slots[f.Slot]
	if s == nil || pairSide(s.creator) != from && s.redeemer != from || s.writing {
		return errNoSlot()
	}
	r.burn(s, wire.KindBadProof, "the pairing was refused; the codes did not match or a person declined")
	return nil
}

// Accept handles pair_accept of one side. That of the second side writes the binding, in
// the reader of its connection: the loop never waits for the store.
func (r *Registry) Accept(c *conn.Conn, f *wire.PairAccept) {
	var ready *slot
	r.inLoop(c, "", func() (refused *wire.Error) {
		if t := r.visited(c, f.Slot); t != nil {
			t.Send(f)
			return nil
		}
		ready, refused = r.accept(c, f)
		return refused
	})
	if ready != nil {
		r.bind(ready)
	}
}

// accept returns the slot if its binding is to be written. In the loop.
func (r *Registry) accept(from pairSide, f *wire.PairAccept) (*slot, *wire.Error) {
	s, err := r.joined(from, f.Slot)
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

// bind writes the binding of a slot that both sides accepted, and notifies them.
func (r *Registry) bind(s *slot) {
	device, client := s.creator.AsPeer(), s.redeemer.AsPeer()
	if device.ID.Kind() == ident.KindClient {
		device, client = client, device
	}
	ctx, cancel := r.Store.Context()
	defer cancel()
	err := r.Store.Bind(ctx, directory.AsParty(device), directory.AsParty(client), time.Now())
	if err != nil && !errors.Is(err, store.ErrLimit) {
		r.Store.Failed(metrics.StoreBind, err)
	}
	_ = r.Loop.Do(func() { // a stopped loop has no peers
		s.writing = false
		switch {
		case errors.Is(err, store.ErrLimit):
			r.burn(s, wire.KindLimit, "one side has too many pairings; remove one first")
		case err != nil:
			r.burn(s, wire.KindUnavailable, "the relay could not store the pairing; try again later")
		default:
			r.complete(s, device, client)
		}
	})
	if err == nil {
		r.Log.Info("binding written", "device", device.ID, "client", client.ID)
		r.Cluster.Publish(cluster.SubjectNews, cluster.Notice{
			Kind: cluster.NoticeBound, Device: device, Client: client, Slot: s.name, Node: s.nodeOf(device.ID, r.Cluster.Self()),
		})
		r.Directory.Recheck(device.ID, client.ID)
	}
}

// complete ends a slot with a binding. In the loop.
func (r *Registry) complete(s *slot, device, client wire.Peer) {
	r.remove(s)
	r.Metrics.Pairs.WithLabelValues(metrics.OK).Inc()
	s.creator.Send(&wire.PairComplete{Slot: s.name, Peer: s.redeemer.AsPeer()})
	s.redeemer.Send(&wire.PairComplete{Slot: s.name, Peer: s.creator.AsPeer()})
	r.Directory.Bound(device, client, s.nodeOf(device.ID, r.Cluster.Self()))
}
