package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// errStopped is returned by do when the directory has ended.
var errStopped = errors.New("relay: directory has stopped")

// directory is the routing state: who is online, what they may do, and which
// pairing codes are open. One goroutine owns it; others send it functions. Such a
// function must not block: it changes maps and puts frames in queues.
type directory struct {
	relay    *Relay
	commands chan command
	quit     chan struct{}
	quitOnce sync.Once
	ended    chan struct{}

	// Owned by run.
	parties  map[ident.ID]*party
	slots    map[string]*slot
	visits   map[string]*visit   // pairing codes of other nodes that a peer of ours redeems
	openings map[uint32]*opening // channels to other nodes that are being opened
}

type command struct {
	do   func()
	done chan struct{}
}

// party is a device or client with at least one connection, or one that logs in.
type party struct {
	id      ident.ID
	conns   []*conn                // logged in; at most one for a device
	joining []*conn                // their bindings are being read
	grants  map[ident.ID]wire.Peer // the valid bindings: the other sides
	version int                    // grows with each change of grants
	// away says on which other node a client's devices are, "" for one that is known
	// to be on none.
	away map[ident.ID]string
}

func newDirectory(r *Relay) *directory {
	return &directory{
		relay:    r,
		commands: make(chan command),
		quit:     make(chan struct{}),
		ended:    make(chan struct{}),
		parties:  make(map[ident.ID]*party),
		slots:    make(map[string]*slot),
		visits:   make(map[string]*visit),
		openings: make(map[uint32]*opening),
	}
}

func (d *directory) start() { go d.run() }

// stop ends the goroutine and waits for it.
func (d *directory) stop() {
	d.quitOnce.Do(func() { close(d.quit) })
	<-d.ended
}

func (d *directory) run() {
	defer close(d.ended)
	defer d.dropSlots()
	for {
		select {
		case cmd := <-d.commands:
			cmd.do()
			close(cmd.done)
		case <-d.quit:
			return
		}
	}
}

// do runs f in the directory's goroutine and returns when it has run.
func (d *directory) do(f func()) error { return d.doContext(context.Background(), f) }

func (d *directory) doContext(ctx context.Context, f func()) error {
	cmd := command{do: f, done: make(chan struct{})}
	select {
	case d.commands <- cmd:
	case <-d.quit:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-cmd.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter makes c's party known, so that it hears of changes from now on. The
// caller reads the bindings afterwards and calls admit or leave.
func (d *directory) enter(c *conn) error {
	p := d.parties[c.id]
	if p == nil {
		p = &party{id: c.id, away: make(map[ident.ID]string)}
		d.parties[c.id] = p
		if c.id.Kind() == ident.KindClient {
			d.relay.cluster.outbox.subscribe(partySubject(c.id))
		}
	}
	if c.id.Kind() == ident.KindClient && len(p.conns)+len(p.joining) >= d.relay.limits().ConnectionsPerEntry {
		return wire.Errorf(wire.KindLimit, "this client has %d connections; close one of them", len(p.conns)+len(p.joining))
	}
	p.joining = append(p.joining, c)
	c.party = p
	return nil
}

// admit ends a login: c is online, knows its bindings and has its welcome. away
// is where the devices are that other nodes have; what was heard since is newer.
func (d *directory) admit(c *conn, bindings []wire.Peer, away map[ident.ID]string) {
	p := c.party
	p.joining = without(p.joining, c)
	p.version++
	for id, node := range away {
		if _, heard := p.away[id]; !heard {
			p.away[id] = node
		}
	}
	if c.latest != nil {
		bindings, c.latest = c.latest, nil
	}
	p.grants = make(map[ident.ID]wire.Peer, len(bindings))
	for _, peer := range bindings {
		p.grants[peer.ID] = peer
	}
	for id, peer := range c.changed { // what happened since the store was asked
		if peer == nil {
			delete(p.grants, id)
		} else {
			p.grants[id] = *peer
		}
	}
	c.changed = nil
	cameOnline := len(p.conns) == 0
	if c.id.Kind() == ident.KindDevice {
		d.replace(p)
	}
	c.stamp = time.Now()
	p.conns = append(p.conns, c)
	c.tell(d.welcome(p))
	if c.id.Kind() != ident.KindDevice {
		return
	}
	if cameOnline {
		d.cameOnline(p)
	}
	d.tellLogin(c, true)
}

// leave takes c out, whether it was admitted or not.
func (d *directory) leave(c *conn) {
	d.burnSlotsOf(c)
	d.leaveVisitsOf(c)
	p := c.party
	if p == nil {
		return
	}
	c.party = nil
	wasOnline := len(p.conns) > 0
	p.conns, p.joining = without(p.conns, c), without(p.joining, c)
	if len(p.conns) == 0 && wasOnline && p.id.Kind() == ident.KindDevice {
		d.wentOffline(p)
	}
	if len(p.conns)+len(p.joining) == 0 {
		delete(d.parties, p.id)
		if p.id.Kind() == ident.KindClient {
			d.relay.cluster.outbox.unsubscribe(partySubject(p.id))
		}
	}
}

// host returns the connection of a device, or nil.
func (d *directory) host(id ident.ID) *conn {
	if p := d.parties[id]; p != nil && len(p.conns) > 0 && !p.conns[0].ended() {
		return p.conns[0]
	}
	return nil
}

// welcome lists the bindings. wire.MaxBindings of them fit in a control frame.
func (d *directory) welcome(p *party) *wire.Welcome {
	w := &wire.Welcome{ID: p.id, ServerTime: nowMillis(), Peers: make([]wire.Peer, 0, len(p.grants))}
	for id, peer := range p.grants {
		peer.Online = d.online(p, id)
		w.Peers = append(w.Peers, peer)
	}
	slices.SortFunc(w.Peers, func(a, b wire.Peer) int { return a.ID.Compare(b.ID) })
	return w
}

func without(conns []*conn, c *conn) []*conn {
	return slices.DeleteFunc(conns, func(other *conn) bool { return other == c })
}
