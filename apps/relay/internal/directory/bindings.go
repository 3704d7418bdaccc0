package directory

import (
	"errors"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Each side of a binding has a half of it in memory, and both halves must exist before a
// channel opens. They are read from the store at login and kept up to date by pairings and
// revocations, including those on other nodes. All functions here run in the loop unless
// they say otherwise.

// setHalf gives one side its half.
func (d *Directory) setHalf(of ident.ID, peer wire.Peer) {
	p := d.parties[of]
	if p == nil {
		return
	}
	peer.Online = false // computed when it is sent
	p.version++
	if p.bindings != nil {
		p.bindings[peer.ID] = peer
	}
	for _, m := range p.joining {
		m.noteChange(peer.ID, &peer)
	}
}

// dropHalf removes one side's half.
func (d *Directory) dropHalf(of, peer ident.ID) {
	p := d.parties[of]
	if p == nil {
		return
	}
	p.version++
	delete(p.bindings, peer)
	for _, m := range p.joining {
		m.noteChange(peer, nil)
	}
}

// noteChange records what the store's answer may not contain yet.
func (m *member) noteChange(peer ident.ID, now *wire.Peer) {
	if m.changed == nil {
		m.changed = make(map[ident.ID]*wire.Peer)
	}
	m.changed[peer] = now
}

// Bound applies a binding that was written. node is where the device is.
func (d *Directory) Bound(device, client wire.Peer, node string) {
	d.setHalf(device.ID, client)
	d.setHalf(client.ID, device)
	p := d.parties[client.ID]
	switch {
	case p == nil:
	case d.host(device.ID) != nil:
		p.send(&wire.DeviceOnline{DeviceID: device.ID})
	case node != "" && node != d.Cluster.Self():
		p.away[device.ID] = "" // so that the client is notified even if it already knew
		d.setAway(p, device.ID, node)
	}
}

// ApplyBound is Bound for a binding that another node wrote.
func (d *Directory) ApplyBound(n cluster.Notice) {
	known := d.holds(n.Device.ID, n.Client.ID)
	if known && d.holds(n.Client.ID, n.Device.ID) {
		return // applied before
	}
	d.Bound(n.Device, n.Client, n.Node)
	if n.Claimed && !known {
		d.sendBound(n.Device.ID, n.Client)
	}
	// Another node may have ended it since, and its notice may have been faster: ask the store.
	d.doubt(n.Device.ID, n.Client.ID)
	d.Cluster.CheckNow()
}

// holds reports whether a connected party has its half. A party that is not
// connected needs no notification.
func (d *Directory) holds(of, peer ident.ID) bool {
	p := d.parties[of]
	if p == nil {
		return true
	}
	_, ok := p.bindings[peer]
	return ok && len(p.joining) == 0
}

// ApplyRevoked applies a revocation by another node.
func (d *Directory) ApplyRevoked(n cluster.Notice) {
	if d.knows(n.Device.ID, n.Client.ID) {
		d.revoked(n.Device.ID, n.Client.ID, nil, "")
	}
}

// ApplySuspended applies a revocation that another node could not write.
func (d *Directory) ApplySuspended(n cluster.Notice) { d.suspend(n.Device.ID, n.Client.ID) }

// revoked applies the end of a binding: no new channel can be opened, open ones
// close, and both sides are notified. asked, which may be nil, gets the answer to
// its request.
func (d *Directory) revoked(device, client ident.ID, asked *conn.Conn, requestID string) {
	d.dropHalf(device, client)
	d.dropHalf(client, device)
	send := func(m *member, peer ident.ID) {
		frame := &wire.BindingRevoked{PeerID: peer}
		if m.Conn == asked {
			frame.RequestID = requestID
		}
		m.Send(frame)
	}
	if p := d.parties[client]; p != nil {
		for _, m := range p.members {
			m.CloseWith(device, wire.ReasonRevoked)
			if d.online(p, device) {
				m.Send(&wire.DeviceOffline{DeviceID: device})
			}
			send(m, device)
		}
		delete(p.away, device)
	}
	if p := d.parties[device]; p != nil {
		for _, m := range p.members {
			m.CloseWith(client, wire.ReasonRevoked) // to entries on other nodes
			send(m, client)
		}
	}
}

// Revoke answers revoke_binding. Channels close even if the store cannot record the
// revocation. It may block and must not be called in the loop.
func (d *Directory) Revoke(c *conn.Conn, f *wire.RevokeBinding) {
	device, client := c.ID(), f.PeerID
	if c.ID().Kind() == ident.KindClient {
		device, client = f.PeerID, c.ID()
	}
	if device.Kind() != ident.KindDevice || client.Kind() != ident.KindClient {
		c.Refuse(f.RequestID, wire.Errorf(wire.KindNotFound, "there is no binding with %s", f.PeerID))
		return
	}
	ctx, cancel := d.Store.Context()
	defer cancel()
	err := d.Store.Revoke(ctx, device, client, c.ID(), time.Now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.Refuse(f.RequestID, wire.Errorf(wire.KindNotFound, "there is no binding with %s", f.PeerID))
		return
	case err != nil:
		d.Store.Failed(metrics.StoreRevoke, err)
		c.Refuse(f.RequestID, wire.Errorf(wire.KindUnavailable,
			"the revocation could not be stored; channels are closed for now, so revoke again"))
		_ = d.Loop.Do(func() { d.suspend(device, client) })
		d.publishNews(cluster.NoticeSuspended, device, client)
		return
	}
	d.Metrics.Revocations.Inc()
	d.Log.Info("binding revoked", "device", device, "client", client, "by", c.ID())
	_ = d.Loop.Do(func() { d.revoked(device, client, c, f.RequestID) })
	d.publishNews(cluster.NoticeRevoked, device, client)
}

// publishNews tells every node about a binding. A node that misses it learns it from the
// store.
func (d *Directory) publishNews(kind string, device, client ident.ID) {
	d.Cluster.Publish(cluster.SubjectNews, cluster.Notice{Kind: kind, Device: wire.Peer{ID: device}, Client: wire.Peer{ID: client}})
}

// suspend ends what a binding allows without announcing a revocation.
func (d *Directory) suspend(device, client ident.ID) {
	d.dropHalf(device, client)
	d.dropHalf(client, device)
	for of, peer := range map[ident.ID]ident.ID{device: client, client: device} {
		if p := d.parties[of]; p != nil {
			for _, m := range p.members {
				m.CloseWith(peer, wire.ReasonRevoked)
			}
		}
	}
}

// knows reports whether either side still has its half.
func (d *Directory) knows(device, client ident.ID) bool {
	for of, peer := range map[ident.ID]ident.ID{device: client, client: device} {
		p := d.parties[of]
		if p == nil {
			continue
		}
		if _, ok := p.bindings[peer]; ok || len(p.joining) > 0 {
			return true
		}
	}
	return false
}

// reconcile replaces the bindings of a party by those of the store.
func (d *Directory) reconcile(id ident.ID, peers []wire.Peer) {
	p := d.parties[id]
	if p == nil {
		return
	}
	for _, m := range p.joining { // the answer that it waits for may be older
		m.latest, m.changed = slices.Clone(peers), nil
		if m.latest == nil {
			m.latest = []wire.Peer{}
		}
	}
	valid := make(map[ident.ID]bool, len(peers))
	for _, peer := range peers {
		valid[peer.ID] = true
		_, had := p.bindings[peer.ID]
		d.setHalf(id, peer)
		switch {
		case had:
		case !p.isClient(): // the notice of a claim was lost
			d.sendBound(id, peer)
		case d.online(p, peer.ID):
			p.send(&wire.DeviceOnline{DeviceID: peer.ID})
		}
	}
	for peer := range p.bindings {
		if valid[peer] {
			continue
		}
		device, client := id, peer
		if p.isClient() {
			device, client = peer, id
		}
		d.revoked(device, client, nil, "")
	}
}

// CheckRoom returns an error if a party has too many bindings for another one.
func (d *Directory) CheckRoom(of, with ident.ID) *wire.Error {
	p := d.parties[of]
	if p == nil {
		return nil
	}
	_, renewed := p.bindings[with]
	if n := len(p.bindings); n >= wire.MaxBindings && !renewed {
		return wire.Errorf(wire.KindLimit, "%s has %d pairings; remove one first", p.id, n)
	}
	return nil
}
