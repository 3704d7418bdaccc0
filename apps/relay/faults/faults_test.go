//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
	"github.com/scorel/scorel/packages/testdb"
)

const (
	// pairsEnv sets how many hosts talk. Fewer than 18 are not of every kind.
	pairsEnv     = "SCOREL_FAULTS_PAIRS"
	defaultPairs = 200
)

// TestFaults breaks one thing after the other under two hundred hosts. A violation
// (a record lost, doubled, out of order or with someone else) fails it at any time.
func TestFaults(t *testing.T) {
	pairs := defaultPairs
	if text := os.Getenv(pairsEnv); text != "" {
		var err error
		if pairs, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", pairsEnv, err)
		}
	}
	w := newWorld(t, pairs)
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
		ok := t.Run(fault.name, func(t *testing.T) { w.undisturbed(t, fault.run) })
		if !ok {
			return // the rest would only tell of the same
		}
	}
	wait(t, "the relay to find a dead socket", ghost)
}

// tries is how often a fault is run until no uninvolved peer noticed it.
const tries = 6

// undisturbed runs a fault until no uninvolved peer noticed it. A machine that
// stands still for three seconds looks to the nodes like a dead one, which is right of
// them, and a busy machine does so more than once; what a fault does to others it does
// each time.
func (w *world) undisturbed(t *testing.T, fault func(*testing.T, *world)) {
	for try := range tries {
		w.noticed = nil
		fault(t, w)
		if len(w.noticed) == 0 {
			t.Log("no untouched peer noticed")
			return
		}
		t.Logf("try %d: %d untouched peers noticed, such as: %s", try+1, len(w.noticed), w.noticed[0])
	}
	t.Error("untouched peers noticed each time")
}

// ghost leaves a socket that is dead without a word at node 0, and returns whether
// the node has found out.
func (w *world) ghost(t *testing.T) (found func() bool) {
	t.Helper()
	way := proxy.New(t, proxy.TCP(w.nodes[0].Addr()))
	login(t, way.Addr(), relaytest.NewKeys(t, ident.KindDevice), "ghost")
	way.Swallow()
	return func() bool {
		return w.nodes[0].Metrics(t)[`scorel_relay_connection_ends_total{reason="ping_timeout"}`] > 0
	}
}

// Kinds of pairs.
func everybody(*pair) bool    { return true }
func crossing(p *pair) bool   { return !p.local() }
func on(node int) kind        { return func(p *pair) bool { return p.touches(node) } }
func elsewhere(node int) kind { return func(p *pair) bool { return !p.touches(node) } }
func within(node int) kind    { return func(p *pair) bool { return p.local() && p.touches(node) } }
func leading(node int) kind   { return func(p *pair) bool { return !p.local() && p.touches(node) } }
func between(a, b int) kind {
	return func(p *pair) bool { return p.touches(a) && p.touches(b) && a != b }
}
func notBetween(a, b int) kind { return func(p *pair) bool { return !between(a, b)(p) } }

// reaching is an entry on another node whose host is on this one.
func reaching(node int) kind {
	return func(p *pair) bool { return p.host.at.Load() == int32(node) && !p.local() }
}

// The kernel closes the sockets of a killed process: peers find out at once, the
// other nodes by its silence.
func killedNode(t *testing.T, w *world) {
	g := w.sorted(t, on(1), elsewhere(1))
	touched, rest := g[0], g[1]
	w.nodes[1].Kill()
	touched.cut(t)
	w.healed(t) // its peers have gone to the other nodes
	rest.unnoticed(t)
	w.nodes[1].Restart(t)
	w.settle()
	w.healed(t)
}

// A frozen node keeps its sockets. What was revoked in the meantime, elsewhere, is not
// open on it when it continues.
func frozenNode(t *testing.T, w *world) {
	g := w.sorted(t, within(1), reaching(1), elsewhere(1))
	revoked, _ := g[0].split()
	told, rest := g[1], g[2]
	w.nodes[1].Freeze(t)
	w.revoke(t, revoked, 0)
	rest.unnoticed(t)
	told.cut(t) // by the node of the entry, which runs
	w.nodes[1].Thaw(t)
	revoked.shutOut(t)
	revoked.bind(t, w.store)
	w.healed(t)
	rest.unnoticed(t)
}

// The peers of a node that cannot reach the bus talk on among themselves, and
// revocations reach it through the store.
func cutOffNode(t *testing.T, w *world) {
	g := w.sorted(t, within(2), leading(2), elsewhere(2))
	revoked, kept := g[0].split()
	parted, rest := g[1], g[2]
	w.ways[2].Swallow()
	w.revoke(t, revoked, 0)
	revoked.shutOut(t)
	parted.cut(t)
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
	g := w.sorted(t, between(0, 1), notBetween(0, 1))
	parted, rest := g[0], g[1]
	revoked := parted.pairs[0]
	w.routes[0][1].Swallow()
	parted.cut(t)
	rest.unnoticed(t)
	w.revoke(t, revoked, int(revoked.host.at.Load()))
	w.routes[0][1].Heal()
	revoked.shutOut(t)
	revoked.bind(t, w.store)
	w.healed(t)
	rest.unnoticed(t)
}

func stoppedBus(t *testing.T, w *world) {
	g := w.sorted(t, crossing, (*pair).local)
	parted, local := g[0], g[1]
	for _, s := range w.bus {
		s.Stop()
	}
	parted.cut(t)
	local.unnoticed(t)
	w.opensWithin(t, local)
	for _, s := range w.bus {
		s.Restart()
	}
	w.healed(t)
	local.unnoticed(t)
}

// opensWithin waits until one of the pairs that share a node has a new channel.
func (w *world) opensWithin(t *testing.T, local *watch) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	wait(t, "a new channel within a node", func() bool {
		return slices.ContainsFunc(local.pairs, func(p *pair) bool { return p.local() && p.entry.probe(ctx) == nil })
	})
}

// Without its database a relay admits no one and no binding that it does not
// know, and ends what is revoked; what is open lives on.
func stoppedDatabase(t *testing.T, w *world) {
	revoked, all := w.sorted(t, everybody)[0].split()
	stranger := login(t, w.nodes[0].Addr(), relaytest.NewKeys(t, ident.KindClient), "stranger")
	defer stranger.Close()
	tab := w.tab(t, revoked, 0)
	defer tab.Close()
	testdb.Stop(t)
	for node := range w.nodes {
		w.refused(t, node)
	}
	_, err := ask[wire.ChannelOpened](stranger, &wire.OpenChannel{RequestID: "open", DeviceID: all.pairs[0].host.keys.ID()})
	w.expect(t, "a channel without a binding", err, wire.KindUnauthorized)
	_, err = ask[wire.BindingRevoked](tab, &wire.RevokeBinding{RequestID: "revoke", PeerID: revoked.host.keys.ID()})
	if w.expect(t, "a revocation that cannot be written", err, wire.KindUnavailable) {
		w.shutOutUnwritten(t, revoked)
	}
	all.unnoticed(t)
	testdb.Restart(t)
	w.admits(t)
	revoked.bind(t, w.store)
	w.healed(t)
	all.unnoticed(t)
}

// expect checks the answer to a guest, and tells whether it was one: a guest whose
// connection a busy machine broke cannot come back without the database.
func (w *world) expect(t *testing.T, what string, err error, kind wire.Kind) bool {
	t.Helper()
	if errors.Is(err, errLost) {
		w.notice("the guest who asked for %s lost the connection", what)
		return false
	}
	if kindOf(err) != kind {
		t.Errorf("%s was answered with %v, want %s", what, err, kind)
	}
	return true
}

// shutOutUnwritten is shutOut while no one can log in again.
func (w *world) shutOutUnwritten(t *testing.T, p *pair) {
	t.Helper()
	before := p.entry.state().refusals
	wait(t, "a revocation to count", func() bool { return p.isOut(before) || p.entry.in.Load() == nowhere })
	if !p.isOut(before) {
		w.notice("the entry of a revoked pair lost the connection")
	}
}

// A database that takes connections and never answers is found out by time.
func hungDatabase(t *testing.T, w *world) {
	all := w.sorted(t, everybody)[0]
	w.db.Swallow()
	w.refused(t, 0)
	all.unnoticed(t)
	w.db.Heal()
	w.admits(t)
	w.healed(t)
	all.unnoticed(t)
}

// When nothing can tell what is revoked, nothing is open.
func stoppedBoth(t *testing.T, w *world) {
	all := w.sorted(t, everybody)[0]
	testdb.Stop(t)
	for _, s := range w.bus {
		s.Stop()
	}
	all.cut(t)
	open := func() int {
		return slices.IndexFunc(w.pairs, func(p *pair) bool { return p.entry.state().live })
	}
	// A channel that a busy machine broke may have been opened again at first.
	wait(t, "the last channel to close", func() bool { return open() < 0 })
	w.refused(t, 1)
	if i := open(); i >= 0 {
		t.Errorf("pair %d has a channel that cannot be checked", i)
	}
	for _, s := range w.bus {
		s.Restart()
	}
	testdb.Restart(t)
	w.healed(t)
}

// A host whose socket is dead without a word dials again: its own ghost does not
// keep it out, and its entry is notified.
func halfOpen(t *testing.T, w *world) {
	rest := w.sorted(t, everybody)[0]
	p := w.pair(t)
	way := proxy.New(t, proxy.TCP(w.nodes[0].Addr()))
	host := login(t, way.Addr(), p.host.keys, "behind a dying line")
	entry := login(t, w.nodes[1].Addr(), p.entry.keys, "entry")
	defer entry.Close()
	if !entry.open(t, host) {
		w.notice("the entry or its host lost the connection")
		return
	}
	way.Swallow()
	back := login(t, w.nodes[2].Addr(), p.host.keys, "back at another node")
	defer back.Close()
	switch f, err := await[wire.ChannelClosed](entry); {
	case errors.Is(err, errLost):
		w.notice("the entry lost the connection")
		return
	case err != nil:
		t.Fatal(err)
	case f.Reason != wire.ReasonPeerGone:
		t.Errorf("the entry received %q", f.Reason)
	}
	if !entry.open(t, back) {
		w.notice("the entry or its host lost the connection")
	}
	rest.unnoticed(t)
	w.healed(t)
}

// An entry that reads nothing loses its own channel.
func slowReader(t *testing.T, w *world) {
	rest := w.sorted(t, everybody)[0]
	reason, err := w.flood(t)
	switch {
	case err != nil:
		w.notice("the flood broke: %v", err)
	case reason == wire.ReasonPeerGone:
		w.notice("the reader that answers no ping was ended before its queue was full")
	case reason != wire.ReasonSlowConsumer:
		t.Errorf("the host received %q", reason)
	}
	rest.unnoticed(t)
	w.healed(t)
}

// flood sends to an entry that reads nothing until the channel closes, and returns the
// reason that the host is given.
func (w *world) flood(t *testing.T) (wire.Reason, error) {
	t.Helper()
	p := w.pair(t)
	host := login(t, w.nodes[0].Addr(), p.host.keys, "flood")
	defer host.Close()
	stuck, err := relaytest.DialRaw(new(net.Dialer), w.nodes[1].Addr(), p.entry.keys, "stuck")
	if err != nil {
		return "", err
	}
	defer stuck.Close()
	if err := stuck.Net.SetReadBuffer(4096); err != nil { // the sooner it is full
		return "", err
	}
	if err := stuck.Send(&wire.OpenChannel{RequestID: "open", DeviceID: host.ID}); err != nil {
		return "", err
	}
	opened, err := await[wire.ChannelOpened](host)
	if err != nil {
		return "", err
	}
	batch := wire.AppendRecord(nil, opened.Channel, bytes.Repeat([]byte{1}, 32<<10))
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err := host.SendRecords(batch); err != nil {
			return "", err
		}
		select {
		case f, open := <-host.heard:
			if !open {
				return "", errLost
			}
			if f, ok := f.(*wire.ChannelClosed); ok {
				return f.Reason, nil
			}
		default:
		}
	}
	t.Fatal("a peer that reads nothing was sent to for ever")
	return "", nil
}

// TestAFaultFindsItsPairs: the faults before may have left everybody on one node.
func TestAFaultFindsItsPairs(t *testing.T) {
	w := newWorld(t, 27)
	for _, p := range w.pairs {
		p.host.goTo(0)
		p.entry.goTo(0)
	}
	for _, p := range w.pairs {
		wait(t, "everybody to come to node 0", func() bool { return p.host.in.Load() == 0 && p.entry.in.Load() == 0 })
	}
	for i, found := range w.sorted(t, between(0, 1), within(2), reaching(1)) {
		if len(found.pairs) < 2 {
			t.Errorf("%d pairs of kind %d", len(found.pairs), i)
		}
	}
}
