package relay

import (
	"errors"
	"slices"
	"time"

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
	p.version++
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
	p.version++
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

// bound makes a written binding count here. node is where the device is.
func (d *directory) bound(device, client wire.Peer, node string) {
	d.setGrant(device.ID, client)
	d.setGrant(client.ID, device)
	p := d.parties[client.ID]
	switch {
	case p == nil:
	case d.host(device.ID) != nil:
		p.tell(&wire.DeviceOnline{DeviceID: device.ID})
	case node != "" && node != d.relay.cluster.self:
		p.away[device.ID] = "" // so that it is told, even when it was known
		d.setAway(p, device.ID, node)
	}
}

// heardBound is bound for the news of another node. The one that took part in the
// pairing has completed it with the frame of the trunk, or does now: whichever
// comes first.
func (d *directory) heardBound(n notice) {
	if v := d.visits[n.Slot]; v != nil && v.node != "" {
		d.finishVisit(n.Slot, v)
	}
	if d.holds(n.Device.ID, n.Client.ID) && d.holds(n.Client.ID, n.Device.ID) {
		return // told already
	}
	d.bound(n.Device, n.Client, n.Node)
}

// holds tells whether a party that is connected here has its half. One that is
// not has nothing to learn.
func (d *directory) holds(of, peer ident.ID) bool {
	p := d.parties[of]
	if p == nil {
		return true
	}
	_, ok := p.grants[peer]
	return ok && len(p.joining) == 0
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
			if d.online(p, device) {
				c.tell(&wire.DeviceOffline{DeviceID: device})
			}
			tell(c, device)
		}
		delete(p.away, device)
	}
	if p := d.parties[device]; p != nil {
		for _, c := range p.conns {
			c.closeLinksWith(client, wire.ReasonRevoked) // to entries on other nodes
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
		c.relay.storeFailed(storeRevoke, err)
		c.refuse(f.RequestID, wire.Errorf(wire.KindUnavailable,
			"the revocation could not be written down; channels are closed for now, revoke again"))
		_ = c.relay.dir.do(func() { c.relay.dir.suspend(device, client) })
		c.relay.tellNews(noticeSuspended, device, client)
		return
	}
	c.relay.metrics.revocations.Inc()
	c.relay.log.Info("binding revoked", "device", device, "client", client, "by", c.id)
	_ = c.relay.dir.do(func() { c.relay.dir.revoked(device, client, c, f.RequestID) })
	c.relay.tellNews(noticeRevoked, device, client)
}

// suspend ends what a binding allows without telling that it is revoked.
func (d *directory) suspend(device, client ident.ID) {
	d.dropGrant(device, client)
	d.dropGrant(client, device)
	for of, peer := range map[ident.ID]ident.ID{device: client, client: device} {
		if p := d.parties[of]; p != nil {
			for _, c := range p.conns {
				c.closeLinksWith(peer, wire.ReasonRevoked)
			}
		}
	}
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

// reconcile makes the bindings of id what the store says.
func (d *directory) reconcile(id ident.ID, peers []wire.Peer) {
	p := d.parties[id]
	if p == nil {
		return
	}
	for _, c := range p.joining { // the answer that it waits for may be older
		c.latest, c.changed = slices.Clone(peers), nil
		if c.latest == nil {
			c.latest = []wire.Peer{}
		}
	}
	valid := make(map[ident.ID]bool, len(peers))
	for _, peer := range peers {
		valid[peer.ID] = true
		_, had := p.grants[peer.ID]
		d.setGrant(id, peer)
		if !had && id.Kind() == ident.KindClient && d.online(p, peer.ID) {
			p.tell(&wire.DeviceOnline{DeviceID: peer.ID})
		}
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

// tellNews tells every node of a binding. The one that a node may have missed is
// found in the store.
func (r *Relay) tellNews(kind string, device, client ident.ID) {
	r.cluster.outbox.publish(subjectNews, notice{Kind: kind, Device: wire.Peer{ID: device}, Client: wire.Peer{ID: client}})
}
