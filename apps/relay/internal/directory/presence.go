package directory

import (
	"errors"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxAsking is how many devices are asked for at the same time.
const maxAsking = 16

// online reports whether a device can be reached, as far as a client was notified.
func (d *Directory) online(client *party, device ident.ID) bool {
	return d.host(device) != nil || client.away[device] != ""
}

// cameOnline notifies the clients that are bound to a device that has connected. In
// the loop.
func (d *Directory) cameOnline(device *party) {
	d.Cluster.Subscribe(cluster.PartySubject(device.id))
	d.eachBound(device, func(client *party) {
		if client.away[device.id] == "" {
			client.send(&wire.DeviceOnline{DeviceID: device.id})
		}
		delete(client.away, device.id) // it is here now
	})
	d.publishPresence(device, true)
}

// wentOffline notifies the clients that are bound to a device whose connection to
// this node has ended. It may be connected to another node. In the loop.
func (d *Directory) wentOffline(device *party) {
	d.Cluster.Unsubscribe(cluster.PartySubject(device.id))
	d.eachBound(device, func(client *party) {
		if client.away[device.id] == "" {
			client.send(&wire.DeviceOffline{DeviceID: device.id})
		}
	})
	d.publishPresence(device, false)
}

// publishPresence notifies the nodes that have a bound client.
func (d *Directory) publishPresence(device *party, online bool) {
	if d.Cluster.Alone {
		return
	}
	for id := range device.bindings {
		d.Cluster.Publish(cluster.PartySubject(id), cluster.Notice{
			Kind: cluster.NoticePresence, Node: d.Cluster.Self(),
			Device: wire.Peer{ID: device.id}, Client: wire.Peer{ID: id}, Online: online,
		})
	}
}

// ApplyPresence records on which node a device is, or that it has left a node. In
// the loop.
func (d *Directory) ApplyPresence(n cluster.Notice) {
	client := d.parties[n.Client.ID]
	switch {
	case client == nil, !client.isClient():
	case n.Online:
		d.setAway(client, n.Device.ID, n.Node)
	case client.away[n.Device.ID] == n.Node || client.away[n.Device.ID] == "":
		d.setAway(client, n.Device.ID, "")
	}
}

// setAway records on which other node a device is, "" for none, and notifies the
// client of a change.
func (d *Directory) setAway(client *party, device ident.ID, node string) {
	before := d.online(client, device)
	client.away[device] = node
	if _, bound := client.bindings[device]; !bound {
		return // the login is not complete, or the binding has ended
	}
	switch after := d.online(client, device); {
	case after && !before:
		client.send(&wire.DeviceOnline{DeviceID: device})
	case before && !after:
		client.send(&wire.DeviceOffline{DeviceID: device})
	}
}

// NodeGone takes the devices of a node offline.
func (d *Directory) NodeGone(node string) {
	_ = d.Loop.Do(func() { // a stopped loop has no clients
		for _, p := range d.parties {
			for device, at := range p.away {
				if at == node {
					d.setAway(p, device, "")
				}
			}
		}
	})
}

// Device returns a device that is connected to this node. In the loop.
func (d *Directory) Device(id ident.ID) (device wire.Peer, here bool) {
	if m := d.host(id); m != nil {
		return m.AsPeer(), true
	}
	return wire.Peer{}, false
}

// whereAre asks the other nodes for devices. The answer has an entry for each device whose
// question was answered: its node, or "" if no node has it. once accepts the first negative
// answer, although a device may have come online a moment ago.
func (d *Directory) whereAre(devices []ident.ID, once bool) map[ident.ID]string {
	found := make(map[ident.ID]string)
	if !d.Cluster.Reachable() {
		return found
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	slots := make(chan struct{}, maxAsking)
	for _, id := range devices {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			question := cluster.Notice{Kind: cluster.NoticeWhere, Device: wire.Peer{ID: id}, Once: once}
			a, err := d.Cluster.Ask(cluster.PartySubject(id), question)
			if err != nil && !errors.Is(err, bus.ErrNoResponders) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[id] = a.Node
		})
	}
	asking.Wait()
	return found
}

// findDevices asks where the devices of a client are that logs in. Only the first
// connection of a client needs it: notices keep the answer up to date.
func (d *Directory) findDevices(c *conn.Conn, peers []wire.Peer) map[ident.ID]string {
	if d.Cluster.Alone || c.ID().Kind() != ident.KindClient {
		return nil
	}
	select {
	case <-d.Cluster.Settled(): // from here on this node receives changes
	case <-time.After(cluster.AskTimeout):
	}
	var ask []ident.ID
	_ = d.Loop.Do(func() { // if the loop has stopped the login fails later
		if len(d.members[c].party.members) > 0 {
			return
		}
		for _, peer := range peers {
			if d.host(peer.ID) == nil {
				ask = append(ask, peer.ID)
			}
		}
	})
	found := d.whereAre(ask, true)
	var missing []ident.ID
	for id, node := range found {
		if node == "" {
			missing = append(missing, id)
			delete(found, id)
		}
	}
	if len(missing) > 0 {
		d.tasks.Go(func() { d.findAgain(c.ID(), missing) })
	}
	return found
}

// findAgain asks once more for devices that seemed to be offline at a login. A
// device that came online while this node's subscription was propagating is found
// here; one that comes online later is announced by a notice.
func (d *Directory) findAgain(client ident.ID, missing []ident.ID) {
	select {
	case <-time.After(cluster.InterestPause):
	case <-d.Cluster.Stopping():
		return
	}
	found := d.whereAre(missing, true)
	_ = d.Loop.Do(func() { // a stopped loop has no clients
		p := d.parties[client]
		for id, node := range found {
			if p != nil && node != "" && p.away[id] == "" {
				d.setAway(p, id, node)
			}
		}
	})
}

// RefreshPresence asks for every device that a connected client may see.
func (d *Directory) RefreshPresence() {
	wanted := make(map[ident.ID]bool)
	err := d.Loop.Do(func() {
		for _, p := range d.parties {
			if !p.isClient() {
				continue
			}
			for id := range p.bindings {
				if d.host(id) == nil {
					wanted[id] = true
				}
			}
		}
	})
	if err != nil {
		return
	}
	devices := make([]ident.ID, 0, len(wanted))
	for id := range wanted {
		devices = append(devices, id)
	}
	found := d.whereAre(devices, false)
	_ = d.Loop.Do(func() { // a stopped loop has no clients
		for _, p := range d.parties {
			for id := range p.bindings {
				if node, asked := found[id]; asked && p.isClient() {
					d.setAway(p, id, node)
				}
			}
		}
	})
}

// eachBound calls do for the connected clients that are bound to a device. In the loop.
func (d *Directory) eachBound(device *party, do func(client *party)) {
	for id := range device.bindings {
		client := d.parties[id]
		if client == nil {
			continue
		}
		if _, bound := client.bindings[device.id]; bound { // both sides must have the binding
			do(client)
		}
	}
}
