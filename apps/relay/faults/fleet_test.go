//go:build unix

package faults_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	// patience is how long anything may take on a busy machine.
	patience = 15 * time.Second
	// promised is what a heal takes at the most on a quiet one. Longer is logged.
	promised  = 5 * time.Second
	pollEvery = 20 * time.Millisecond
)

// fleet is hosts and entries that talk all the time.
type fleet struct {
	t     testing.TB
	nodes []*nodetest.Node
	pairs []*pair

	noticed []string // what untouched pairs noticed; of the test's goroutine
}

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
		}
		p.host.at.Store(int32(i % len(nodes)))
		p.entry.at.Store(int32(i / len(nodes) % len(nodes)))
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
		p.host.goTo(i % len(f.nodes))
		p.entry.goTo(i / len(f.nodes) % len(f.nodes))
	}
}

// bind writes the binding into the store, as a completed pairing does.
func (p *pair) bind(t testing.TB, st store.Store) {
	t.Helper()
	as := func(k *ident.Private) store.Party {
		return store.Party{ID: k.ID(), Public: k.Public(), Label: "fleet"}
	}
	if err := st.Bind(t.Context(), as(p.host.keys), as(p.entry.keys), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// touches tells whether a node carries the pair.
func (p *pair) touches(node int) bool {
	return p.host.at.Load() == int32(node) || p.entry.at.Load() == int32(node)
}

// local tells whether one node carries the pair alone.
func (p *pair) local() bool { return p.host.at.Load() == p.entry.at.Load() }

// only returns the pairs for which keep is true. There must be some.
func (f *fleet) only(t testing.TB, keep func(*pair) bool) []*pair {
	t.Helper()
	var out []*pair
	for _, p := range f.pairs {
		if keep(p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		t.Fatal("no pair is of this kind: the test proves nothing")
	}
	return out
}

// calm waits until every pair has an echo that came after the call.
func (f *fleet) calm(t testing.TB) time.Duration {
	t.Helper()
	start, w := time.Now(), watching(f.pairs)
	for i, p := range f.pairs {
		wait(t, fmt.Sprintf("pair %d to talk", i), func() bool {
			now := p.entry.state()
			return now.live && now.echoes > w.before[i].echoes
		})
	}
	return time.Since(start)
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
	for i, p := range f.pairs {
		probes.Go(func() {
			for {
				err := p.entry.probe(ctx)
				if err == nil {
					return
				}
				select {
				case <-ctx.Done():
					t.Errorf("pair %d has no new channel %s after the heal: %v", i, patience, err)
					return
				case <-time.After(100 * time.Millisecond): // the retry of a client
				}
			}
		})
	}
	probes.Wait()
	took := time.Since(start)
	t.Logf("new channels for all %d pairs %s after the heal (promised: %s)", len(f.pairs), took.Round(time.Millisecond), promised)
	f.calm(t)
}

// watch holds how pairs stood when a fault began.
type watch struct {
	pairs  []*pair
	before []state
}

func watching(pairs []*pair) *watch {
	w := &watch{pairs: pairs}
	for _, p := range pairs {
		w.before = append(w.before, p.entry.state())
	}
	return w
}

// unnoticed waits until all have talked on, and notes those whose channel was closed.
func (w *watch) unnoticed(t testing.TB) {
	t.Helper()
	for i, p := range w.pairs {
		before := w.before[i]
		wait(t, "an untouched pair to talk on", func() bool { return p.entry.state().echoes > before.echoes+2*burst })
		if now := p.entry.state(); now.closes != before.closes {
			p.entry.fleet.noticed = append(p.entry.fleet.noticed, fmt.Sprintf("pair %d on nodes %d and %d was not touched, and its channel was closed: %s",
				p.entry.index, p.entry.at.Load(), p.host.at.Load(), now.reason))
		}
	}
}

// cut waits until all of the pairs have lost the channel they had.
func (w *watch) cut(t testing.TB) {
	t.Helper()
	for i, p := range w.pairs {
		wait(t, "a channel to close", func() bool { return p.entry.state().closes > w.before[i].closes })
	}
}

// gone waits until all of the pairs have no channel.
func (w *watch) gone(t testing.TB) {
	t.Helper()
	for _, p := range w.pairs {
		wait(t, "a channel to be gone", func() bool { return !p.entry.state().live })
	}
}
