//go:build unix

package faults_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
	"github.com/scorel/scorel/packages/testdb"
)

// TestFaults breaks one thing after the other under two hundred hosts. A violation
// (a record lost, doubled, out of order or with somebody else) fails it at any time.
func TestFaults(t *testing.T) {
	w := newWorld(t, 200)
	ghost := w.ghost(t)
	for _, fault := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"a node is killed", killedNode},
		{"a node is frozen", frozenNode},
		{"a node is cut off", cutOffNode},
		{"a route of the bus is cut", cutRoute},
		{"the bus stops", stoppedBus},
		{"the database stops", stoppedDatabase},
		{"the database hangs", hungDatabase},
		{"bus and database stop", stoppedBoth},
		{"a half-open socket", halfOpen},
		{"a slow reader", slowReader},
	} {
		ok := t.Run(fault.name, func(t *testing.T) { w.twice(t, fault.run) })
		if !ok {
			return // the rest would only tell of the same
		}
	}
	wait(t, "the relay to find a dead socket", ghost)
}

// twice runs a fault again when somebody noticed it who should not have. A machine
// that stands still for three seconds looks to the nodes like a dead one, which is
// right of them; what a fault does to others it does each time.
func (w *world) twice(t *testing.T, fault func(*testing.T, *world)) {
	for try := range 2 {
		w.noticed = nil
		fault(t, w)
		if len(w.noticed) == 0 {
			t.Log("no untouched pair noticed")
			return
		}
		t.Logf("try %d: %d untouched pairs noticed, such as: %s", try+1, len(w.noticed), w.noticed[0])
	}
	t.Error("untouched pairs noticed each time")
}

// ghost leaves a socket that is dead without a word at node 0, and returns whether
// the node has found out.
func (w *world) ghost(t *testing.T) (found func() bool) {
	t.Helper()
	way := proxy.New(t, proxy.TCP(w.nodes[0].Addr()))
	behind := relaytest.Server{URL: "http://" + way.Addr()}
	behind.Login(t, relaytest.NewKeys(t, ident.KindDevice), "ghost")
	way.Swallow()
	return func() bool {
		return w.nodes[0].Metrics(t)[`scorel_relay_connection_ends_total{reason="ping_timeout"}`] > 0
	}
}

// The kernel closes the sockets of a killed process: peers find out at once, the
// other nodes by its silence.
func killedNode(t *testing.T, w *world) {
	touched := watching(w.only(t, func(p *pair) bool { return p.touches(1) }))
	rest := watching(w.only(t, func(p *pair) bool { return !p.touches(1) }))
	w.nodes[1].Kill()
	touched.cut(t)
	w.healed(t) // its peers have gone to the other nodes
	rest.unnoticed(t)
	w.nodes[1].Restart(t)
	w.settle()
	w.healed(t)
}

// A frozen node keeps its sockets. What was revoked meanwhile, elsewhere, is not
// open on it when it goes on.
func frozenNode(t *testing.T, w *world) {
	revoked := w.only(t, func(p *pair) bool { return p.local() && p.touches(1) })[0]
	crossing := watching(w.only(t, func(p *pair) bool { return !p.local() && p.touches(1) }))
	rest := watching(w.only(t, func(p *pair) bool { return !p.touches(1) }))
	w.nodes[1].Freeze(t)
	w.revoke(t, revoked, 0)
	rest.unnoticed(t)
	for _, p := range crossing.pairs { // the side on a node that runs is told
		if p.entry.at.Load() != 1 {
			watching([]*pair{p}).gone(t)
		}
	}
	w.nodes[1].Thaw(t)
	revoked.shutOut(t)
	revoked.bind(t, w.store)
	w.healed(t)
	rest.unnoticed(t)
}

// The peers of a node that cannot reach the bus talk on among themselves, and
// revocations reach it through the store.
func cutOffNode(t *testing.T, w *world) {
	local := w.only(t, func(p *pair) bool { return p.local() && p.touches(2) })
	revoked := local[0]
	kept := watching(local[1:])
	crossing := watching(w.only(t, func(p *pair) bool { return !p.local() && p.touches(2) }))
	rest := watching(w.only(t, func(p *pair) bool { return !p.touches(2) }))
	w.ways[2].Swallow()
	w.revoke(t, revoked, 0)
	revoked.shutOut(t)
	crossing.cut(t)
	kept.unnoticed(t)
	rest.unnoticed(t)
	w.ways[2].Heal()
	revoked.bind(t, w.store)
	w.healed(t)
	kept.unnoticed(t)
	rest.unnoticed(t)
}

// Two servers of the bus do not hear each other; the third hears both.
func cutRoute(t *testing.T, w *world) {
	between := func(p *pair) bool { return p.touches(0) && p.touches(1) && !p.local() }
	crossing := watching(w.only(t, between))
	rest := watching(w.only(t, func(p *pair) bool { return !between(p) }))
	revoked := crossing.pairs[0]
	w.routes[0][1].Swallow()
	crossing.cut(t)
	rest.unnoticed(t)
	w.revoke(t, revoked, int(revoked.host.at.Load()))
	w.routes[0][1].Heal()
	revoked.shutOut(t)
	revoked.bind(t, w.store)
	w.healed(t)
	rest.unnoticed(t)
}

func stoppedBus(t *testing.T, w *world) {
	crossing := watching(w.only(t, func(p *pair) bool { return !p.local() }))
	local := watching(w.only(t, (*pair).local))
	for _, s := range w.bus {
		s.Stop()
	}
	crossing.cut(t)
	local.unnoticed(t)
	p := local.pairs[0]
	if err := p.entry.probe(t.Context()); err != nil {
		t.Errorf("a new channel within a node: %v", err)
	}
	for _, s := range w.bus {
		s.Restart()
	}
	w.healed(t)
	local.unnoticed(t)
}

// Without its database a relay admits nobody and no binding that it does not
// know, and ends what is revoked; what is open lives on.
func stoppedDatabase(t *testing.T, w *world) {
	all := watching(w.pairs[1:])
	revoked := w.pairs[0]
	stranger := w.nodes[0].Peers.Login(t, relaytest.NewKeys(t, ident.KindClient), "stranger")
	defer stranger.Close()
	tab := w.tab(t, revoked, 0)
	defer tab.Close()
	testdb.Stop(t)
	for node := range w.nodes {
		w.refused(t, node, wire.KindUnavailable)
	}
	stranger.Send(&wire.OpenChannel{RequestID: "open", DeviceID: w.pairs[1].host.keys.ID()})
	stranger.ExpectError(wire.KindUnauthorized)
	tab.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: revoked.host.keys.ID()})
	if f := relaytest.Await[wire.ErrorFrame](tab); f.Kind != wire.KindUnavailable {
		t.Errorf("a revocation that cannot be written was answered with %s", f.Kind)
	}
	revoked.shutOut(t)
	all.unnoticed(t)
	testdb.Restart(t)
	w.admits(t)
	revoked.bind(t, w.store)
	w.healed(t)
	all.unnoticed(t)
}

// A database that takes connections and never answers is found out by time.
func hungDatabase(t *testing.T, w *world) {
	all := watching(w.pairs)
	w.db.Swallow()
	w.refused(t, 0, wire.KindUnavailable)
	all.unnoticed(t)
	w.db.Heal()
	w.admits(t)
	w.healed(t)
	all.unnoticed(t)
}

// When nothing can tell what is revoked, nothing is open.
func stoppedBoth(t *testing.T, w *world) {
	all := watching(w.pairs)
	testdb.Stop(t)
	for _, s := range w.bus {
		s.Stop()
	}
	all.cut(t)
	for _, p := range w.pairs {
		if now := p.entry.state(); now.live {
			t.Errorf("pair %d has a channel that nobody can check", p.entry.index)
		}
	}
	w.refused(t, 1, wire.KindUnavailable)
	for _, s := range w.bus {
		s.Restart()
	}
	testdb.Restart(t)
	w.healed(t)
}

// A host whose socket is dead without a word dials again: its own ghost does not
// keep it out, and its entry is told.
func halfOpen(t *testing.T, w *world) {
	rest := watching(w.pairs)
	way := proxy.New(t, proxy.TCP(w.nodes[0].Addr()))
	behind := relaytest.Server{URL: "http://" + way.Addr()}
	keys := relaytest.NewKeys(t, ident.KindDevice)
	host := behind.Login(t, keys, "behind a dying line")
	entry := w.nodes[1].Peers.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	defer entry.Close()
	relaytest.Pair(t, entry, host)
	open := func(host *relaytest.Peer) {
		entry.Send(&wire.OpenChannel{RequestID: "open", DeviceID: keys.ID()})
		relaytest.Await[wire.ChannelOpened](host)
		relaytest.Await[wire.ChannelOpened](entry)
	}
	open(host)
	way.Swallow()
	back := w.nodes[2].Peers.Login(t, keys, "back at another node")
	defer back.Close()
	if f := relaytest.Await[wire.ChannelClosed](entry); f.Reason != wire.ReasonPeerGone {
		t.Errorf("the entry was told %q", f.Reason)
	}
	open(back)
	rest.unnoticed(t)
	w.healed(t)
}

// An entry that reads nothing loses its own channel.
func slowReader(t *testing.T, w *world) {
	rest := watching(w.pairs)
	host := w.nodes[0].Peers.Login(t, relaytest.NewKeys(t, ident.KindDevice), "flood")
	defer host.Close()
	stuck := w.nodes[1].Peers.Login(t, relaytest.NewKeys(t, ident.KindClient), "stuck")
	defer stuck.Close()
	relaytest.Pair(t, stuck, host)
	_, onHost := relaytest.Open(t, stuck, host)
	closed := make(chan wire.Reason, 1)
	go func() {
		f, _, _ := host.Next() // what is not a close ends with the test
		if f, ok := f.(*wire.ChannelClosed); ok {
			closed <- f.Reason
		}
		close(closed)
	}()
	payload := bytes.Repeat([]byte{1}, 32<<10)
	deadline := time.Now().Add(patience)
	for {
		host.SendRecord(onHost, payload)
		select {
		case reason := <-closed:
			if reason != wire.ReasonSlowConsumer {
				t.Errorf("the host was told %q", reason)
			}
			rest.unnoticed(t)
			w.healed(t)
			return
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("a peer that reads nothing was sent to for ever")
		}
	}
}
