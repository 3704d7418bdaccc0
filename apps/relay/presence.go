package relay

import (
	"errors"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxAsking is how many devices are asked for at once.
const maxAsking = 16

// online tells whether a device can be reached, as far as a client was told.
func (d *directory) online(client *party, device ident.ID) bool {
	return d.host(device) != nil || client.away[device] != ""
}

func (p *party) tell(f wire.Frame) {
	for _, c := range p.conns {
		c.tell(f)
	}
}

// cameOnline makes a device known to those who are bound to it. The directory's
// goroutine calls it.
func (d *directory) cameOnline(device *party) {
	d.relay.cluster.outbox.subscribe(partySubject(device.id))
	d.eachBound(device, func(client *party) {
		if client.away[device.id] == "" {
			client.tell(&wire.DeviceOnline{DeviceID: device.id})
		}
		delete(client.away, device.id) // it is here now
	})
	d.tellPresence(device, true)
}

// wentOffline is for a device whose connection here is gone. It may be elsewhere.
func (d *directory) wentOffline(device *party) {
	d.relay.cluster.outbox.unsubscribe(partySubject(device.id))
	d.eachBound(device, func(client *party) {
		if client.away[device.id] == "" {
			client.tell(&wire.DeviceOffline{DeviceID: device.id})
		}
	})
	d.tellPresence(device, false)
}

// tellPresence tells the nodes that have a bound client.
func (d *directory) tellPresence(device *party, online bool) {
	if d.relay.cluster.alone {
		return
	}
	for id := range device.grants {
		d.relay.cluster.outbox.publish(partySubject(id), notice{
			Kind: noticePresence, Node: d.relay.cluster.self,
			Device: wire.Peer{ID: device.id}, Client: wire.Peer{ID: id}, Online: online,
		})
	}
}

// heardPresence notes where a device is, or that it has left a node.
func (d *directory) heardPresence(n notice) {
	client := d.parties[n.Client.ID]
	switch {
	case client == nil, client.id.Kind() != ident.KindClient:
	case n.Online:
		d.setAway(client, n.Device.ID, n.Node)
	case client.away[n.Device.ID] == n.Node || client.away[n.Device.ID] == "":
		d.setAway(client, n.Device.ID, "")
	}
}

// setAway notes on which other node a device is, "" for none, and tells the client
// what that changes.
func (d *directory) setAway(client *party, device ident.ID, node string) {
	before := d.online(client, device)
	client.away[device] = node
	if _, bound := client.grants[device]; !bound {
		return // of a login under way, or of a binding that has ended
	}
	switch after := d.online(client, device); {
	case after && !before:
		client.tell(&wire.DeviceOnline{DeviceID: device})
	case before && !after:
		client.tell(&wire.DeviceOffline{DeviceID: device})
	}
}

// nodeGone takes the devices of a node offline.
func (d *directory) nodeGone(node string) {
	for _, p := range d.parties {
		for device, at := range p.away {
			if at == node {
				d.setAway(p, device, "")
			}
		}
	}
}

// whereAre asks the other nodes for devices. The answer holds those that were
// asked for with success, and "" for those that nobody has. once trusts the first
// no, though a device may have come online a moment ago.
func (r *Relay) whereAre(devices []ident.ID, once bool) map[ident.ID]string {
	found := make(map[ident.ID]string)
	if r.cluster.alone || !r.cluster.up.Load() {
		return found
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	slots := make(chan struct{}, maxAsking)
	for _, id := range devices {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			a, err := r.cluster.ask(partySubject(id), notice{Kind: noticeWhere, Device: wire.Peer{ID: id}, Once: once})
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
// connection of a client has to: notices keep what is known in step.
func (c *conn) findDevices(peers []wire.Peer) map[ident.ID]string {
	r := c.relay
	if r.cluster.alone || c.id.Kind() != ident.KindClient {
		return nil
	}
	select {
	case <-r.cluster.outbox.settled(): // from here on we hear of changes
	case <-time.After(askTimeout):
	}
	var ask []ident.ID
	_ = r.dir.do(func() { // a stopped directory ends the login
		if len(c.party.conns) > 0 {
			return
		}
		for _, peer := range peers {
			if r.dir.host(peer.ID) == nil {
				ask = append(ask, peer.ID)
			}
		}
	})
	found := r.whereAre(ask, true)
	var missing []ident.ID
	for id, node := range found {
		if node == "" {
			missing = append(missing, id)
			delete(found, id)
		}
	}
	if len(missing) > 0 {
		r.tasks.Go(func() { r.findAgain(c.id, missing) })
	}
	return found
}

// findAgain asks once more for devices that seemed to be offline at a login. One
// that came online while our interest in the news was still travelling is found
// here, and one that comes later is in the news.
func (r *Relay) findAgain(client ident.ID, missing []ident.ID) {
	select {
	case <-time.After(interestPause):
	case <-r.cluster.quit:
		return
	}
	found := r.whereAre(missing, true)
	_ = r.dir.do(func() { // a stopped directory has nobody to tell
		p := r.dir.parties[client]
		for id, node := range found {
			if p != nil && node != "" && p.away[id] == "" {
				r.dir.setAway(p, id, node)
			}
		}
	})
}

// refreshPresence asks for every device that a connected client may see.
func (r *Relay) refreshPresence() {
	wanted := make(map[ident.ID]bool)
	err := r.dir.do(func() {
		for _, p := range r.dir.parties {
			if p.id.Kind() != ident.KindClient {
				continue
			}
			for id := range p.grants {
				if r.dir.host(id) == nil {
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
	found := r.whereAre(devices, false)
	_ = r.dir.do(func() { // a stopped directory has nobody to tell
		for _, p := range r.dir.parties {
			for id := range p.grants {
				if node, asked := found[id]; asked && p.id.Kind() == ident.KindClient {
					r.dir.setAway(p, id, node)
				}
			}
		}
	})
}

// eachBound visits the connected clients that are bound to a device.
func (d *directory) eachBound(device *party, do func(client *party)) {
	for id := range device.grants {
		client := d.parties[id]
		if client == nil {
			continue
		}
		if _, bound := client.grants[device.id]; bound { // each side's list must name the other
			do(client)
		}
	}
}
