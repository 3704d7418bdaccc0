// Package directory is the routing state of a relay node: who is connected, what peers are
// bound to, and where the devices of connected clients are. It opens channels, and keeps
// its copy of the bindings up to date with the store and the other nodes.
//
// All state belongs to the relay's loop. Methods whose comment says "in the loop" must be
// called by a function that the loop runs, and do not block. All other methods may block,
// and must not be called in the loop.
package directory

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Config is what New makes a Directory from.
type Config struct {
	Loop    *loop.Loop
	Cluster *cluster.Cluster
	Store   *Store
	Log     *slog.Logger
	Metrics *metrics.Metrics
	Memory  *memory.Account
	Limits  func() *limits.Limits // the current ones
}

// Directory is the routing state of one node.
type Directory struct {
	Config
	tasks sync.WaitGroup // questions to other nodes

	// Owned by the loop.
	members  map[*conn.Conn]*member
	parties  map[ident.ID]*party
	openings map[uint32]*opening // channels to other nodes that are being opened
	doubted  map[ident.ID]bool   // parties whose bindings the next check reads again
	recent   []announcement      // logins of devices that are announced again

	seen []store.Event // owned by CheckBindings: what the last check saw
}

// member is the connection of a peer that logs in or has logged in.
type member struct {
	*conn.Conn
	party   *party
	opening int       // channels to devices on other nodes that are being opened
	stamp   time.Time // when its login was completed
	changed map[ident.ID]*wire.Peer
	latest  []wire.Peer // bindings that were read after those of the login, or nil
}

// party is a device or client with at least one connection.
type party struct {
	id       ident.ID
	members  []*member              // logged in; at most one for a device
	joining  []*member              // their bindings are being read
	bindings map[ident.ID]wire.Peer // the other sides; nil before the first login is complete
	version  int                    // grows with each change of bindings
	// away says on which other node a client's devices are, "" for a device that is known
	// to be on none.
	away map[ident.ID]string
}

// New returns a directory without peers.
func New(cfg Config) *Directory {
	return &Directory{
		Config:   cfg,
		members:  make(map[*conn.Conn]*member),
		parties:  make(map[ident.ID]*party),
		openings: make(map[uint32]*opening),
		doubted:  make(map[ident.ID]bool),
	}
}

// Wait returns when no question to another node is open. No peer is connected by then.
func (d *Directory) Wait() { d.tasks.Wait() }

// Login registers a peer whose proof was checked, reads its bindings and sends its
// welcome. If the store does not answer, the peer is not admitted.
func (d *Directory) Login(c *conn.Conn) error {
	var refused error
	if err := d.Loop.Do(func() { refused = d.enter(c) }); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	peers, err := d.Store.bindings(c.ID())
	if err == nil && len(peers) > 0 { // the store knows only parties that have had a binding
		err = d.Store.relabel(c.Self())
	}
	if err != nil {
		d.Store.Failed(metrics.StoreLogin, err)
		return wire.Errorf(wire.KindUnavailable, "the relay cannot read its bindings now; try again later")
	}
	away := d.findDevices(c, peers)
	return d.Loop.Do(func() { d.admit(d.members[c], peers, away) })
}

// enter registers a party, so that it receives changes from now on. The caller
// reads the bindings afterwards and calls admit or Leave. In the loop.
func (d *Directory) enter(c *conn.Conn) error {
	p := d.parties[c.ID()]
	if p == nil {
		p = &party{id: c.ID(), away: make(map[ident.ID]string)}
		d.parties[p.id] = p
		if p.isClient() {
			d.Cluster.Subscribe(cluster.PartySubject(p.id))
		}
	}
	if n := len(p.members) + len(p.joining); p.isClient() && n >= d.Limits().ConnectionsPerEntry {
		return wire.Errorf(wire.KindLimit, "this client has %d connections, which is the limit; close one of them", n)
	}
	m := &member{Conn: c, party: p}
	d.members[c] = m
	p.joining = append(p.joining, m)
	return nil
}

// admit completes a login: the peer is online and gets its welcome. away is where
// its devices are on other nodes; notices received since then are newer. In the
// loop.
func (d *Directory) admit(m *member, bindings []wire.Peer, away map[ident.ID]string) {
	p := m.party
	p.joining = without(p.joining, m)
	for id, node := range away {
		if _, known := p.away[id]; !known {
			p.away[id] = node
		}
	}
	p.setBindings(m, bindings)
	cameOnline := len(p.members) == 0
	if !p.isClient() {
		d.replace(p)
	}
	m.stamp = time.Now()
	p.members = append(p.members, m)
	m.Send(d.welcome(p))
	if p.isClient() {
		return
	}
	if cameOnline {
		d.cameOnline(p)
	}
	d.announceLogin(m)
}

// setBindings makes the bindings of a party those that the store returned at a login, with
// what has changed since the store was asked.
func (p *party) setBindings(m *member, bindings []wire.Peer) {
	p.version++
	if m.latest != nil {
		bindings, m.latest = m.latest, nil
	}
	p.bindings = make(map[ident.ID]wire.Peer, len(bindings))
	for _, peer := range bindings {
		p.bindings[peer.ID] = peer
	}
	for id, peer := range m.changed {
		if peer == nil {
			delete(p.bindings, id)
		} else {
			p.bindings[id] = *peer
		}
	}
	m.changed = nil
}

// Leave removes a connection, whether its login was complete or not. In the loop.
func (d *Directory) Leave(c *conn.Conn) {
	m := d.members[c]
	if m == nil {
		return
	}
	delete(d.members, c)
	p := m.party
	wasOnline := len(p.members) > 0
	p.members, p.joining = without(p.members, m), without(p.joining, m)
	if len(p.members) == 0 && wasOnline && !p.isClient() {
		d.wentOffline(p)
	}
	if len(p.members)+len(p.joining) == 0 {
		delete(d.parties, p.id)
		if p.isClient() {
			d.Cluster.Unsubscribe(cluster.PartySubject(p.id))
		}
	}
}

// Present reports whether a connection is logged in or logging in. In the loop.
func (d *Directory) Present(c *conn.Conn) bool { return d.members[c] != nil }

// Each calls do for every party with its connections that are logged in. In the loop.
func (d *Directory) Each(do func(id ident.ID, conns []*conn.Conn)) {
	for id, p := range d.parties {
		conns := make([]*conn.Conn, len(p.members))
		for i, m := range p.members {
			conns[i] = m.Conn
		}
		do(id, conns)
	}
}

// CloseChannels closes every channel. The peers may open them again when that is possible.
func (d *Directory) CloseChannels() {
	_ = d.Loop.Do(func() { // a stopped loop has no channels
		for _, p := range d.parties {
			for _, m := range p.members {
				for _, ch := range m.Channels() {
					ch.Close(wire.ReasonPeerGone, nil)
				}
			}
		}
	})
}

// host returns the connection of a device, or nil.
func (d *Directory) host(id ident.ID) *member {
	if p := d.parties[id]; p != nil && len(p.members) > 0 && !p.members[0].Ended() {
		return p.members[0]
	}
	return nil
}

// welcome lists the bindings. wire.MaxBindings of them fit in a control frame.
func (d *Directory) welcome(p *party) *wire.Welcome {
	w := &wire.Welcome{ID: p.id, ServerTime: time.Now().UnixMilli(), Peers: make([]wire.Peer, 0, len(p.bindings))}
	for id, peer := range p.bindings {
		peer.Online = p.isClient() && d.online(p, id) // a device does not learn who is online
		w.Peers = append(w.Peers, peer)
	}
	slices.SortFunc(w.Peers, func(a, b wire.Peer) int { return a.ID.Compare(b.ID) })
	return w
}

func (p *party) isClient() bool { return p.id.Kind() == ident.KindClient }

// send sends a frame to all connections of a party.
func (p *party) send(f wire.Frame) {
	for _, m := range p.members {
		m.Send(f)
	}
}

func without(members []*member, m *member) []*member {
	return slices.DeleteFunc(members, func(other *member) bool { return other == m })
}
