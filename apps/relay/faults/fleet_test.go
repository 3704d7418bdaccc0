//go:build unix

package faults_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	// patience is how long anything may take on a busy machine. Only a test that fails
	// waits for so long.
	patience = 3 * time.Minute
	// promised is what a heal takes at the most on a quiet one. Longer is logged.
	promised  = 5 * time.Second
	pollEvery = 20 * time.Millisecond
	// probing is how many pairs look for a new channel at once.
	probing = 32
)

// fleet is hosts and entries that talk all the time.
type fleet struct {
	t     testing.TB
	nodes []*nodetest.Node
	pairs []*pair

	gathering atomic.Bool // everybody stays where the driver sent them
	noticed   []string    // what untouched pairs noticed; of the test's goroutine
}

// kind tells which pairs a fault means.
type kind = func(*pair) bool

// pair is a host and an entry that are bound to each other.
type pair struct {
	host  host
	entry entry
}

// newFleet starts n pairs, spread so that all ways between the nodes are used.
func newFleet(t *testing.T, nodes []*nodetest.Node, st store.Store, n int) *fleet {
	t.Helper()
	f := &fleet{t: t, nodes: nodes}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for i := range n {
		p := &pair{host: host{index: i}, entry: entry{index: i}}
		for of, kind := range map[*party]ident.Kind{&p.host.party: ident.KindDevice, &p.entry.party: ident.KindClient} {
			of.fleet, of.keys = f, relaytest.NewKeys(t, kind)
			of.in.Store(nowhere)
		}
		p.host.at.Store(f.hostNode(i))
		p.entry.at.Store(f.entryNode(i))
		p.entry.host = p.host.keys.ID()
		f.pairs = append(f.pairs, p)
		p.bind(t, st)
		running.Go(func() { p.host.keep(ctx, p.host.serve) })
		running.Go(func() { p.entry.keep(ctx, p.entry.serve) })
		running.Go(func() { p.entry.talk(ctx) })
	}
	f.calm(t)
	return f
}

// settle sends everybody to the node where they began, so that all ways between
// the nodes are used.
func (f *fleet) settle() {
	for i, p := range f.pairs {
		p.host.goTo(f.hostNode(i))
		p.entry.goTo(f.entryNode(i))
	}
}

func (f *fleet) hostNode(i int) int32  { return int32(i % len(f.nodes)) }
func (f *fleet) entryNode(i int) int32 { return int32(i / len(f.nodes) % len(f.nodes)) }

// gather brings everybody to where they began, and returns when all pairs talk there.
// A fault leaves its peers on the nodes that were left, and a busy machine moves some
// at any time: the next one must still find pairs of every kind.
func (f *fleet) gather(t testing.TB) {
	t.Helper()
	f.gathering.Store(true)
	defer f.gathering.Store(false)
	f.settle()
	for i, p := range f.pairs {
		for of, node := range map[*party]int32{&p.host.party: f.hostNode(i), &p.entry.party: f.entryNode(i)} {
			wait(t, fmt.Sprintf("pair %d to come to node %d", i, node), func() bool { return of.in.Load() == node })
		}
	}
	f.calm(t)
}

// sorted gathers the fleet and returns the pairs of each of these kinds as they stand.
// There are some of each: what a fault does is never left to chance.
func (f *fleet) sorted(t testing.TB, kinds ...kind) []*watch {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		f.gather(t)
		out := make([]*watch, len(kinds))
		some := true
		for i, of := range kinds {
			out[i] = f.watch(of)
			some = some && len(out[i].pairs) > 1 // one may be revoked, and others are left
		}
		if some {
			return out
		}
		if time.Now().After(deadline) { // the machine broke so many at once, again and again
			t.Fatalf("waited %s for pairs of every kind", patience)
		}
	}
}

// bind writes the binding into the store, as a completed pairing does. A database
// that was just started may break connections that the pool still holds.
func (p *pair) bind(t testing.TB, st store.Store) {
	t.Helper()
	as := func(k *ident.Private) store.Party {
		return store.Party{ID: k.ID(), Public: k.Public(), Label: "fleet"}
	}
	var err error
	wait(t, "a binding to be written", func() bool {
		if err != nil {
			t.Logf("writing a binding: %v", err)
		}
		err = st.Bind(t.Context(), as(p.host.keys), as(p.entry.keys), time.Now())
		return err == nil
	})
}

// touches reports whether a node carries the pair.
func (p *pair) touches(node int) bool {
	return p.host.at.Load() == int32(node) || p.entry.at.Load() == int32(node)
}

// local reports whether one node carries the pair alone.
func (p *pair) local() bool { return p.host.at.Load() == p.entry.at.Load() }

// calm waits until every pair has an echo of a record that was sent after the call.
func (f *fleet) calm(t testing.TB) {
	t.Helper()
	var before []state
	for _, p := range f.pairs {
		before = append(before, p.entry.state())
	}
	for i, p := range f.pairs {
		wait(t, fmt.Sprintf("pair %d to talk", i), func() bool { return p.entry.state().talked(before[i]) })
	}
}

// wait polls until done says so.
func wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
		<-time.After(pollEvery)
	}
}

// healed measures how long it takes until every pair gets a new channel, and waits
// until all talk again.
func (f *fleet) healed(t testing.TB) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var probes sync.WaitGroup
	slots := make(chan struct{}, probing)
	for i, p := range f.pairs {
		slots <- struct{}{}
		probes.Go(func() {
			defer func() { <-slots }()
			for again := (backoff{}); ; {
				err := p.entry.probe(ctx)
				if err == nil {
					return
				}
				select {
				case <-ctx.Done():
					t.Errorf("pair %d has no new channel %s after the heal: %v", i, patience, err)
					return
				case <-time.After(again.longer()): // the retry of a client
				}
			}
		})
	}
	probes.Wait()
	took := time.Since(start)
	t.Logf("new channels for all %d pairs %s after the heal (promised: %s)", len(f.pairs), took.Round(time.Millisecond), promised)
	f.calm(t)
}

// watch holds how pairs stood when a fault began: each had a channel.
type watch struct {
	pairs  []*pair
	before []state
}

// watch returns the pairs of a kind. How each stood was read before it was sorted: one
// that moves away in the meantime loses the channel that it had.
func (f *fleet) watch(of kind) *watch {
	w := &watch{}
	for _, p := range f.pairs {
		if before := p.entry.state(); before.live && of(p) {
			w.pairs, w.before = append(w.pairs, p), append(w.before, before)
		}
	}
	return w
}

// split takes the first pair out, for a part of its own.
func (w *watch) split() (first *pair, rest *watch) {
	return w.pairs[0], &watch{w.pairs[1:], w.before[1:]}
}

// unnoticed waits until all have talked on since the last call, and notes those whose
// channel was closed. They need not talk: what is broken may keep them from it.
func (w *watch) unnoticed(t testing.TB) {
	t.Helper()
	for i, p := range w.pairs {
		before := &w.before[i]
		var now state
		wait(t, "an untouched pair to talk on", func() bool {
			now = p.entry.state()
			return now.closes != before.closes || now.echoes > before.echoes+2*burst
		})
		before.echoes = now.echoes
		if now.closes != before.closes {
			p.entry.fleet.notice("pair %d on nodes %d and %d was not touched, and its channel was closed: %s",
				p.entry.index, p.entry.at.Load(), p.host.at.Load(), now.reason)
		}
	}
}

// notice makes this run of a fault one that proves nothing.
func (f *fleet) notice(format string, args ...any) {
	f.noticed = append(f.noticed, fmt.Sprintf(format, args...))
}

// cut waits until all of the pairs have lost the channel they had.
func (w *watch) cut(t testing.TB) {
	t.Helper()
	for i, p := range w.pairs {
		wait(t, "a channel to close", func() bool { return p.entry.state().closes > w.before[i].closes })
	}
}
