package directory

import (
	"context"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// FindDevice returns a device with its keys, online if it is connected, and the node that
// it is connected to. The relay knows a device while it is connected, and any device in its
// store: a device that has or had a binding here. Otherwise the error wraps
// store.ErrNotFound. It may block and must not be called in the loop.
func (d *Directory) FindDevice(ctx context.Context, id ident.ID) (device wire.Peer, node string, err error) {
	here := false
	if err := d.Loop.Do(func() { device, here = d.Device(id) }); err != nil {
		return device, "", err
	}
	if here {
		return device, d.Cluster.Self(), nil
	}
	device, node = d.ask(id)
	if device.ID == id && ident.NewID(id.Kind(), device.Public) == id {
		return device, node, nil
	}
	party, err := d.Store.Party(ctx, id) // a node of an older version does not tell the keys
	return wire.Peer{ID: party.ID, Public: party.Public, Label: party.Label, Online: node != ""}, node, err
}

// ask asks the other nodes for a device.
func (d *Directory) ask(id ident.ID) (device wire.Peer, node string) {
	if d.Cluster.Alone || !d.Cluster.Reachable() {
		return device, ""
	}
	question := cluster.Notice{Kind: cluster.NoticeWhere, Device: wire.Peer{ID: id}, Once: true}
	a, err := d.Cluster.Ask(cluster.PartySubject(id), question)
	if err != nil || !a.OK {
		return device, ""
	}
	return a.Device, a.Node
}

// Claimed is Bound for a binding that a client has claimed: the device is notified too. In
// the loop.
func (d *Directory) Claimed(device, client wire.Peer, node string) {
	_, known := d.half(device.ID, client.ID)
	d.Bound(device, client, node)
	if !known {
		d.sendBound(device.ID, client)
	}
}

// Online reports whether a connected client sees a device as online. In the loop.
func (d *Directory) Online(client, device ident.ID) bool {
	p := d.parties[client]
	return p != nil && d.online(p, device)
}

// half returns one side's half of a binding.
func (d *Directory) half(of, peer ident.ID) (wire.Peer, bool) {
	p := d.parties[of]
	if p == nil {
		return wire.Peer{}, false
	}
	half, ok := p.bindings[peer]
	return half, ok
}

// sendBound notifies a device, if it is connected to this node, of a client that has
// claimed a binding with it.
func (d *Directory) sendBound(device ident.ID, client wire.Peer) {
	client.Online = false // a device does not learn who is online
	if p := d.parties[device]; p != nil {
		p.send(&wire.PeerBound{Peer: client})
	}
}
