package relay

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A grant is one side's half of a binding, in memory. Both halves must be there
// before a channel opens. Grants are read from the store at login and kept in
// step by pairings and revocations, those on other nodes included.

// setGrant gives one side its half.
func (d *directory) setGrant(of ident.ID, peer wire.Peer) {
	p := d.parties[of]
	if p == nil {
		return
	}
	peer.Online = false // worked out when it is told
	if p.grants != nil {
		p.grants[peer.ID] = peer
	}
	for _, c := range p.joining {
		c.noteChange(peer.ID, &peer)
	}
}

// dropGrant takes one side's half away.
func (d *directory) dropGrant(of, peer ident.ID) {
	p := d.parties[of]
	if p == nil {
		return
	}
	delete(p.grants, peer)
	for _, c := range p.joining {
		c.noteChange(peer, nil)
	}
}

// noteChange remembers what the answer of the store may not hold yet.
func (c *conn) noteChange(peer ident.ID, now *wire.Peer) {
	if c.changed == nil {
		c.changed = make(map[ident.ID]*wire.Peer)
	}
	c.changed[peer] = now
}

// bound makes a written binding count here.
func (d *directory) bound(device, client wire.Peer) {
	d.setGrant(device.ID, client)
	d.setGrant(client.ID, device)
	if p := d.parties[client.ID]; p != nil && d.host(device.ID) != nil {
		for _, c := range p.conns {
			c.tell(&wire.DeviceOnline{DeviceID: device.ID})
		}
	}
}

// revoked makes an ended binding count here: no new channel, the open ones close,
// both sides are told. asked, which may be nil, gets the answer to its request.
func (d *directory) revoked(device, client ident.ID, asked *conn, requestID string) {
	d.dropGrant(device, client)
	d.dropGrant(client, device)
	tell := func(c *conn, peer ident.ID) {
		frame := &wire.BindingRevoked{PeerID: peer}
		if c == asked {
			frame.RequestID = requestID
		}
		c.tell(frame)
	}
	if p := d.parties[client]; p != nil {
		for _, c := range p.conns {
			c.closeLinksWith(device, wire.ReasonRevoked)
			if d.host(device) != nil {
				c.tell(&wire.DeviceOffline{DeviceID: device})
			}
			tell(c, device)
		}
	}
	if p := d.parties[device]; p != nil {
		for _, c := range p.conns {
			tell(c, client)
		}
	}
}

// revoke answers revoke_binding. When the store cannot write it down the channels
// close all the same: in doubt the answer is no.
func (c *conn) revoke(f *wire.RevokeBinding) {
	device, client := c.id, f.PeerID
	if c.id.Kind() == ident.KindClient {
		device, client = f.PeerID, c.id
	}
	if device.Kind() != ident.KindDevice || client.Kind() != ident.KindClient {
		c.refuse(f.RequestID, wire.Errorf(wire.KindNotFound, "there is no binding with %s", f.PeerID))
		return
	}
	ctx, cancel := c.relay.storeContext()
	defer cancel()
	err := c.relay.cfg.Store.Revoke(ctx, device, client, c.id, time.Now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.refuse(f.RequestID, wire.Errorf(wire.KindNotFound, "there is no binding with %s", f.PeerID))
		return
	case err != nil:
		c.relay.storeFailed("revoke", err)
		c.refuse(f.RequestID, wire.Errorf(wire.KindUnavailable,
			"the revocation could not be written down; channels are closed for now, revoke again"))
		_ = c.relay.dir.do(func() { c.relay.dir.suspend(device, client) })
		return
	}
	c.relay.metrics.revocations.Inc()
	c.relay.log.Info("binding revoked", "device", device, "client", client, "by", c.id)
	_ = c.relay.dir.do(func() { c.relay.dir.revoked(device, client, c, f.RequestID) })
	c.relay.publish(notice{Kind: noticeRevoked, Device: wire.Peer{ID: device}, Client: wire.Peer{ID: client}})
}

// suspend ends what a binding allows without telling that it is revoked.
func (d *directory) suspend(device, client ident.ID) {
	d.dropGrant(device, client)
	d.dropGrant(client, device)
	if p := d.parties[client]; p != nil {
		for _, c := range p.conns {
			c.closeLinksWith(device, wire.ReasonRevoked)
		}
	}
}

// notice is what nodes tell each other.
type notice struct {
	Kind   string    `json:"kind"`
	Device wire.Peer `json:"device"`
	Client wire.Peer `json:"client"` // zero for noticeReplaced
}

const (
	noticeBound    = "bound"    // a binding was written
	noticeRevoked  = "revoked"  // a binding was ended
	noticeReplaced = "replaced" // the device logged in on another node
)

// subject is where news of a party is told.
func subject(id ident.ID) string { return "scorel.party." + id.String() }

// publish tells the nodes that have either side connected.
func (r *Relay) publish(n notice) {
	data, err := json.Marshal(n)
	if err != nil {
		r.log.Error("encoding a notice", "error", err)
		return
	}
	for _, id := range []ident.ID{n.Device.ID, n.Client.ID} {
		if id.IsZero() {
			continue
		}
		if err := r.node.Publish(subject(id), data); err != nil {
			r.log.Error("telling other nodes", "notice", n.Kind, "error", err)
		}
	}
}

// heard handles what other nodes tell. Doing it twice changes nothing, since a
// node with both sides hears it on both subjects.
func (r *Relay) heard(msg bus.Message) {
	if msg.Lost {
		r.rereadGrants()
		return
	}
	var n notice
	if err := json.Unmarshal(msg.Data, &n); err != nil {
		r.log.Error("notice of another node cannot be read", "error", err)
		return
	}
	_ = r.dir.do(func() { // a stopped directory has nobody to tell
		switch n.Kind {
		case noticeBound:
			r.dir.bound(n.Device, n.Client)
		case noticeRevoked:
			if r.dir.knows(n.Device.ID, n.Client.ID) {
				r.dir.revoked(n.Device.ID, n.Client.ID, nil, "")
			}
		case noticeReplaced:
			if p := r.dir.parties[n.Device.ID]; p != nil && len(p.conns) > 0 {
				r.dir.replace(p)
				r.dir.announce(p, &wire.DeviceOffline{DeviceID: p.id}) // out of reach from this node
			}
		}
	})
}

// knows tells whether either side still holds its half.
func (d *directory) knows(device, client ident.ID) bool {
	for of, peer := range map[ident.ID]ident.ID{device: client, client: device} {
		p := d.parties[of]
		if p == nil {
			continue
		}
		if _, ok := p.grants[peer]; ok || len(p.joining) > 0 {
			return true
		}
	}
	return false
}

// rereadGrants brings every connected party back in step with the store after
// notices were lost. A party whose bindings cannot be read loses them.
func (r *Relay) rereadGrants() {
	var ids []ident.ID
	if err := r.dir.do(func() {
		for id := range r.dir.parties {
			ids = append(ids, id)
		}
	}); err != nil {
		return
	}
	r.log.Warn("notices of other nodes were lost, reading all bindings again", "parties", len(ids))
	for _, id := range ids {
		peers, err := r.bindings(id)
		if err != nil {
			r.storeFailed("bindings", err)
		}
		if r.dir.do(func() { r.dir.reconcile(id, peers) }) != nil {
			return
		}
	}
}

// reconcile makes the bindings of id what the store says.
func (d *directory) reconcile(id ident.ID, peers []wire.Peer) {
	p := d.parties[id]
	if p == nil {
		return
	}
	valid := make(map[ident.ID]bool, len(peers))
	for _, peer := range peers {
		valid[peer.ID] = true
		d.setGrant(id, peer)
	}
	for peer := range p.grants {
		if valid[peer] {
			continue
		}
		device, client := id, peer
		if id.Kind() == ident.KindClient {
			device, client = peer, id
		}
		d.revoked(device, client, nil, "")
	}
}

// bindings asks the store for the valid bindings of id.
func (r *Relay) bindings(id ident.ID) ([]wire.Peer, error) {
	ctx, cancel := r.storeContext()
	defer cancel()
	parties, err := r.cfg.Store.Bindings(ctx, id)
	if err != nil {
		return nil, err
	}
	peers := make([]wire.Peer, len(parties))
	for i, p := range parties {
		peers[i] = wire.Peer{ID: p.ID, Public: p.Public, Label: p.Label}
	}
	return peers, nil
}
