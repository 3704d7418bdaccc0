package sessions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestResyncEqualsAFreshLoad makes random histories, some with a log longer than
// one answer, some with events larger than the ring, with prompts that wait and are
// edited, steers, approvals, and an end of the host inside of a turn: in order, or as
// kill -9 does it. Entries are cut off at every event; each of them resyncs while
// nothing moves: what it shows is what an entry shows that has just come.
func TestResyncEqualsAFreshLoad(t *testing.T) {
	const histories, least = 20, 10_000
	modes, cuts, running, all := map[api.ResyncMode]int{}, 0, 0, seen{}
	for seed := range uint64(histories) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := &history{t: t, random: rand.New(rand.NewPCG(seed, 1)), modes: modes}
			h.play()
			cuts += h.cuts
			all.add(h.seen)
			for _, s := range h.states {
				running += len(s.live.Processes)
			}
		})
	}
	if running < 1000 {
		t.Errorf("operations ran in only %d states", running)
	}
	if cuts < least {
		t.Errorf("only %d cuts, want %d", cuts, least)
	}
	t.Logf("%d cuts, %v, %+v", cuts, modes, all)
	if min(all.queued, all.steered, all.edited, all.answered, all.canceled, all.queuedAtEnd, all.askingAtEnd, all.wonderingAtEnd, all.killed) == 0 {
		t.Errorf("the histories hold too little: %+v", all)
	}
	for _, mode := range []api.ResyncMode{api.ResyncStream, api.ResyncPersistent, api.ResyncFull} {
		if modes[mode] < 100 {
			t.Errorf("%d cuts led to %s: the test does not cover it", modes[mode], mode)
		}
	}
}

// history is one session from its beginning, with every state that an entry had
// which was never cut off.
type history struct {
	t      *testing.T
	random *rand.Rand
	modes  map[api.ResyncMode]int
	cuts   int

	model    *steppedModel
	s        *sessions.Session
	recorder *watcher
	moved    chan struct{} // holds one token after events
	standing bool          // the model waits for h.model.goOn
	states   []state
	cutTo    int // all states before this one were cut
	sent     int // prompts beside those of the turns
	seen     seen
	long     bool // the log does not fit one answer
}

// state is what an entry has at one event.
type state struct {
	entries []session.Entry
	before  uint64
	live    api.Live
	anchors api.Anchors
}

func (h *history) play() {
	t := h.t
	h.long = h.random.IntN(4) == 0
	risk := agent.RiskRead
	if h.random.IntN(2) == 0 {
		risk = agent.RiskWrite // each call waits for an answer
	}
	f := newFixture(t, nil, reportingTool{h.random, risk}, askTool{})
	f.deps.Processes = process.NewLogs(t.TempDir())
	if h.long {
		h.preload(f)
	}
	m := h.open(f)
	for turn := range 2 {
		h.turn(fmt.Sprintf("k%d", turn), -1)
		h.operate(turn)
		h.cutEverywhere()
	}
	for n := range 2 {
		h.turn(fmt.Sprintf("broken%d", n), h.random.IntN(20)) // the host ends inside of this one
		m = h.restart(f, m)
		h.settle()
		h.cutEverywhere()
		h.goOn(-1)
	}
	h.turn("after", -1)
	h.cutSome(20)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// preload makes a session with a long log.
func (h *history) preload(f *fixture) {
	const id = "0198-long"
	first, err := session.EncodeHeader(session.Header{Version: session.Version, ID: id, Timestamp: "2026-01-02T03:04:05.678Z", Cwd: f.project.Path})
	if err != nil {
		h.t.Fatal(err)
	}
	lines := make([]json.RawMessage, api.WindowEntries+h.random.IntN(2*api.WindowEntries))
	parent := "null"
	for i := range lines {
		lines[i] = fmt.Appendf(nil, `{"type":"message","id":"p%d","parentId":%s,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"line %d","timestamp":1}}`, i, parent, i)
		parent = fmt.Sprintf(`"p%d"`, i)
	}
	log, err := file.New(f.dir, f.deps.Logger).Create(h.t.Context(), f.project.ID, first, lines...)
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// open starts a host on the session and an entry that records.
func (h *history) open(f *fixture) *sessions.Manager {
	h.model = &steppedModel{inner: modeltest.New(randomSteps(h.random)...), at: make(chan struct{}), goOn: make(chan struct{})}
	f.deps.Models = oneModel{h.model}
	m := f.manager(h.t)
	if list := m.List(""); len(list) > 0 {
		h.s = open(h.t, m, list[0].ID)
	} else {
		h.s = f.create(h.t, m)
	}
	h.recorder = attendant()
	h.moved, h.standing = make(chan struct{}, 1), false
	h.recorder.onEvent = func(api.EventEnvelope) {
		h.record()
		select {
		case h.moved <- struct{}{}:
		default:
		}
	}
	subscribe(h.t, h.s, h.recorder)
	read(h.recorder, func() int { h.record(); return 0 }) // events may come by now
	return m
}

func (h *history) record() {
	w := h.recorder
	h.states = append(h.states, state{w.entries[:len(w.entries):len(w.entries)], w.before, w.live.Clone(), w.anchors})
}

// cutSome resyncs entries that were cut off at random events.
func (h *history) cutSome(n int) {
	fresh := h.fresh()
	states := read(h.recorder, func() []state { return h.states })
	for range n {
		h.resync(states[h.random.IntN(len(states))], fresh)
	}
}

// cutEverywhere resyncs an entry cut off at each event since the last time, and at
// some of those before, and looks at some of them up to the beginning of the log.
func (h *history) cutEverywhere() {
	const before = 50
	fresh := h.fresh()
	states := read(h.recorder, func() []state { return h.states })
	last := h.resync(states[0], fresh)
	for range min(before, h.cutTo) {
		last = h.resync(states[h.random.IntN(h.cutTo)], fresh)
	}
	for _, from := range states[h.cutTo:] {
		last = h.resync(from, fresh)
	}
	h.cutTo = len(states)
	whole := h.whole(fresh)
	for _, w := range []*watcher{h.recorder, last, h.resync(states[0], fresh)} {
		if got := h.whole(w); !slices.EqualFunc(got, whole, sameEntry) {
			h.t.Fatalf("up to the beginning of the log an entry has %d entries, a fresh one %d", len(got), len(whole))
		}
	}
	for i, e := range whole[1:] {
		moved := e.CustomType == session.CustomLeaf || e.Type == session.TypeBranchSummary
		if !moved && e.ParentID != whole[i].ID {
			h.t.Fatalf("entry %d hangs on %s", i+1, e.ParentID)
		}
	}
}

func (h *history) fresh() *watcher {
	w := newWatcher()
	if mode := subscribe(h.t, h.s, w); mode != api.ResyncFull {
		h.t.Fatalf("a fresh load was %s", mode)
	}
	h.s.Unsubscribe(h.t.Context(), w)
	return w
}

// resync brings an entry that was cut off at a state up to date, and compares it.
func (h *history) resync(from state, fresh *watcher) *watcher {
	h.t.Helper()
	h.cuts++
	w := newWatcher()
	w.entries, w.before, w.live, w.anchors = from.entries, from.before, from.live.Clone(), from.anchors
	mode := subscribe(h.t, h.s, w)
	h.s.Unsubscribe(h.t.Context(), w)
	h.modes[mode]++
	n := len(fresh.entries)
	switch {
	case len(w.entries) < n || !slices.EqualFunc(w.entries[len(w.entries)-n:], fresh.entries, sameEntry):
		h.t.Fatalf("after %s from %+v there are %d entries, a fresh load has %d", mode, from.anchors, len(w.entries), n)
	case !reflect.DeepEqual(w.live, fresh.live):
		h.t.Fatalf("after %s from %+v\n%.2000s\na fresh load has\n%.2000s", mode, from.anchors, fmt.Sprintf("%+v", w.live), fmt.Sprintf("%+v", fresh.live))
	case w.anchors != fresh.anchors:
		h.t.Fatalf("after %s from %+v the anchors are %+v, want %+v", mode, from.anchors, w.anchors, fresh.anchors)
	}
	return w
}

func sameEntry(a, b session.Entry) bool { return bytes.Equal(a.Raw, b.Raw) }

// whole returns what an entry has after it fetched all that lies before.
func (h *history) whole(w *watcher) []session.Entry {
	h.t.Helper()
	entries, before := read(w, func() []session.Entry { return slices.Clone(w.entries) }), w.before
	for before > 0 {
		r, err := h.s.Entries(h.t.Context(), api.GetEntriesRequest{Before: before, Limit: h.random.IntN(2 * api.WindowEntries)})
		if err != nil || len(r.Entries) == 0 || r.Before >= before {
			h.t.Fatalf("before %d: %d entries, then before %d, %v", before, len(r.Entries), r.Before, err)
		}
		entries, before = append(r.Entries, entries...), r.Before
	}
	return entries
}

// steppedModel stands still before each of its deltas, until it is released.
type steppedModel struct {
	inner    agent.Model
	at, goOn chan struct{}
}

func (m *steppedModel) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	return m.inner.Stream(ctx, req, func(d agent.Delta) {
		select {
		case m.at <- struct{}{}:
			select {
			case <-m.goOn:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		emit(d)
	})
}

func randomSteps(random *rand.Rand) []modeltest.Step {
	var steps []modeltest.Step
	for turn := range 20 {
		for call := range random.IntN(3) {
			id := fmt.Sprintf("c%d_%d", turn, call)
			name := []string{"echo", "ask"}[random.IntN(2)]
			steps = append(steps, modeltest.Calls(modeltest.Call(id, name, fmt.Sprintf(`{"n":%d}`, call))))
		}
		size := random.IntN(400)
		if random.IntN(30) == 0 {
			size = api.RingBytes + 1000 // its deltas do not fit the ring
		}
		steps = append(steps, modeltest.Step{
			Content:   session.Content{session.Text(strings.Repeat("word ", size/5+1))},
			FailFirst: random.IntN(2), Piece: max(4, size/20),
		})
	}
	return steps
}
