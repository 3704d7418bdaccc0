package sessions_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestResyncEqualsAFreshLoad cuts an entry off at random events of random
// histories, some of them larger than the ring, some across a restart of the
// host, and lets it resync while the turn goes on: what it shows is what an entry
// shows that has just come.
func TestResyncEqualsAFreshLoad(t *testing.T) {
	modes := map[api.ResyncMode]int{}
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { resyncOnce(t, seed, modes) })
	}
	for _, mode := range []api.ResyncMode{api.ResyncStream, api.ResyncPersistent} {
		if modes[mode] == 0 {
			t.Errorf("no history led to %s: the test does not cover it", mode)
		}
	}
}

func resyncOnce(t *testing.T, seed uint64, modes map[api.ResyncMode]int) {
	random := rand.New(rand.NewPCG(seed, 1))
	f := newFixture(t, modeltest.New(randomSteps(random)...), echoTool{agent.RiskRead})
	m := f.manager(t)
	s := f.create(t, m)
	cut, stays := newWatcher(), newWatcher()
	subscribe(t, s, cut)
	subscribe(t, s, stays)
	for turn := range 3 {
		send(t, s, fmt.Sprintf("k%d", turn), "go")
		target := read(stays, func() uint64 { return stays.anchors.StreamLastSeq }) + uint64(random.IntN(60))
		stays.wait(func() bool { return stays.anchors.StreamLastSeq >= target || stays.live.Turn == nil })
		s.Unsubscribe(t.Context(), cut)
		if random.IntN(3) == 0 {
			stays.wait(func() bool { return stays.live.Turn == nil && stays.ended > turn })
		}
		modes[subscribe(t, s, cut)]++
		stays.wait(func() bool { return stays.ended > turn })
		last := read(stays, func() uint64 { return stays.anchors.StreamLastSeq })
		cut.wait(func() bool { return cut.anchors.StreamLastSeq >= last })
		compare(t, s, cut, "after a cut")
		compare(t, s, stays, "without a cut")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = f.manager(t)
	s = open(t, m, m.List("")[0].ID)
	modes[subscribe(t, s, cut)]++
	compare(t, s, cut, "after a restart of the host")
}

func compare(t *testing.T, s *sessions.Session, w *watcher, when string) {
	t.Helper()
	fresh := newWatcher()
	if mode := subscribe(t, s, fresh); mode != api.ResyncFull {
		t.Fatalf("a fresh load was %s", mode)
	}
	defer s.Unsubscribe(t.Context(), fresh)
	if got, want := w.projection(), fresh.projection(); got != want {
		t.Fatalf("%s the projection differs\n got %.2000s\nwant %.2000s", when, got, want)
	}
}

func randomSteps(random *rand.Rand) []modeltest.Step {
	var steps []modeltest.Step
	for turn := range 3 {
		for call := range random.IntN(3) {
			id := fmt.Sprintf("c%d_%d", turn, call)
			steps = append(steps, modeltest.Calls(modeltest.Call(id, "echo", fmt.Sprintf(`{"n":%d}`, call))))
		}
		size := random.IntN(400)
		if random.IntN(12) == 0 {
			size = api.RingBytes + 1000 // its deltas do not fit the ring
		}
		steps = append(steps, modeltest.Step{
			Content:   session.Content{session.Text(strings.Repeat("word ", size/5+1))},
			FailFirst: random.IntN(2), Piece: max(4, size/80),
		})
	}
	return steps
}
