package sessions_test

import (
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// spender is a fixture whose turns all cost the same: an attempt that broke off before the
// provider had told anything, and the call.
func spender(t *testing.T, turns int) *fixture {
	var steps []modeltest.Step
	for range turns {
		steps = append(steps, modeltest.Say("done"))
	}
	f := newFixture(t, nil)
	f.deps.Models = oneModel{metered{modeltest.New(steps...), usage(100, 10, 1000, 0, 0.25), session.Usage{TotalTokens: 1, Partial: true}}}
	return f
}

// each is what one turn of a spender takes.
func each(turns int) api.TokenUsage {
	return api.TokenUsage{Input: 100 * turns, Output: 10 * turns, CacheRead: 1000 * turns, Cost: 0.25 * float64(turns)}
}

func (f *fixture) turn(t *testing.T, s *sessions.Session, key string) {
	t.Helper()
	w := newWatcher()
	subscribe(t, s, w)
	send(t, s, key, "go")
	w.wait(func() bool { return w.ended > 0 })
	s.Unsubscribe(t.Context(), w)
}

// spent is what a summary says of tokens.
type spent struct {
	own, delegated, inherited api.TokenUsage
	uncounted                 int
}

func spentOf(s api.SessionSummary) spent {
	return spent{s.Usage, s.Delegated, s.Inherited, s.Uncounted}
}

// everywhere looks at what is said of a session in all places, also after a restart.
func everywhere(t *testing.T, f *fixture, m *sessions.Manager, want map[string]spent) {
	t.Helper()
	for id, spend := range want {
		s, w := open(t, m, id), newWatcher()
		one, err := s.Summary(t.Context())
		check(t, err)
		said := map[string]api.SessionSummary{"summary": one}
		check(t, s.Resync(t.Context(), api.Anchors{}, w, nil, func(r api.ResyncEventsResponse) { said["resync"] = r.Session }))
		s.Unsubscribe(t.Context(), w)
		page, err := m.Page(api.ListSessionsRequest{All: true, Limit: 50}, nil)
		check(t, err)
		for where, list := range map[string][]api.SessionSummary{"list": m.List(""), "page": page.Sessions} {
			for _, each := range list {
				if each.ID == id {
					said[where] = each
				}
			}
		}
		for where, summary := range said {
			if got := spentOf(summary); got != spend {
				t.Errorf("%s of %s: %+v, want %+v", where, id, got, spend)
			}
		}
		if len(said) != 4 {
			t.Errorf("%s is listed nowhere: %v", id, said)
		}
	}
	check(t, m.Close())
	for _, index := range []string{"by the log", "by the index"} {
		withIndex(t, f)
		again := f.manager(t)
		for _, summary := range again.List("") {
			if got := spentOf(summary); got != want[summary.ID] {
				t.Errorf("%s, %s: %+v, want %+v", index, summary.ID, got, want[summary.ID])
			}
		}
		check(t, again.Close())
	}
}

// TestAForkCountsItsOwn: what was inherited is counted separately, also of a fork of a fork.
func TestAForkCountsItsOwn(t *testing.T) {
	f := spender(t, 4)
	m := f.manager(t)
	first := f.create(t, m)
	f.turn(t, first, "k1")
	f.turn(t, first, "k2")
	fork := func(from string) *sessions.Session {
		r, err := m.Fork(t.Context(), api.ForkSessionRequest{SessionID: from, ClientKey: "fork of " + from})
		check(t, err)
		return open(t, m, r.Session.ID)
	}
	second := fork(first.ID())
	f.turn(t, second, "k3")
	third := fork(second.ID())
	f.turn(t, first, "k4")
	everywhere(t, f, m, map[string]spent{
		first.ID():  {own: each(3), uncounted: 3},
		second.ID(): {own: each(1), inherited: each(2), uncounted: 1},
		third.ID():  {inherited: each(3)},
	})
}

// TestTheTotalHasTheChildrenOnce: what agents took is in the total of the session that gave
// them their tasks, and in that of no fork of it.
func TestTheTotalHasTheChildrenOnce(t *testing.T) {
	f := spender(t, 3)
	var mu sync.Mutex
	told := map[string]api.SessionSummary{}
	f.deps.OnSummary = func(s api.SessionSummary) {
		mu.Lock()
		defer mu.Unlock()
		told[s.ID] = s
	}
	m := f.manager(t)
	ids := f.family(t, m)
	for i, id := range ids {
		f.turn(t, open(t, m, id), "k"+string(rune('0'+i)))
	}
	r, err := m.Fork(t.Context(), api.ForkSessionRequest{SessionID: ids[0], ClientKey: "fork"})
	check(t, err)
	want := map[string]spent{
		ids[0]:       {own: each(1), delegated: each(2), uncounted: 3},
		ids[1]:       {own: each(1), delegated: each(1), uncounted: 2},
		ids[2]:       {own: each(1), uncounted: 1},
		r.Session.ID: {inherited: each(1)},
	}
	mu.Lock()
	for _, id := range ids {
		if spentOf(told[id]) != want[id] {
			t.Errorf("announced %+v, want %+v", spentOf(told[id]), want[id])
		}
	}
	mu.Unlock()
	everywhere(t, f, m, want)

	// Deleted sessions no longer count, and watchers of the list are notified.
	m = f.manager(t)
	check(t, deleted(m.Delete(t.Context(), ids[2])))
	mu.Lock()
	defer mu.Unlock()
	if got := spentOf(told[ids[0]]); got != (spent{own: each(1), delegated: each(1), uncounted: 2}) {
		t.Errorf("after one is deleted: %+v", got)
	}
}

// TestForksOfOthers: a fork of Pi's, or of an older scorel, says by its times what came along.
func TestForksOfOthers(t *testing.T) {
	f := newFixture(t, modeltest.New())
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x","parentSession":"/y.jsonl"}` + "\n"
	for i, at := range []string{"2026-01-01T00:00:00.000Z", "2026-01-02T03:04:05.677Z", "2026-01-02T03:04:05.678Z", "2026-01-01T23:00:00.000Z"} {
		id := string(rune('a' + i))
		parent := "null"
		if i > 0 {
			parent = `"` + string(rune('a'+i-1)) + `"`
		}
		text += `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"` + at + `","message":{"role":"assistant","content":[],"stopReason":"stop","usage":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":1,"cost":{"total":0}}}}` + "\n"
	}
	m := f.manager(t)
	summary, err := m.Import(t.Context(), f.project.ID, "s", []byte(text))
	if err != nil || summary.Inherited.Input != 2 || summary.Usage.Input != 2 {
		t.Errorf("%+v %v", summary, err)
	}
}

// TestAForkIsNewerThanWhatItTook: also where the last entry was written in the same
// millisecond, or by a clock that has just been set back.
func TestAForkIsNewerThanWhatItTook(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	ahead := session.FormatTime(time.Now().Add(500 * time.Millisecond))
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n" +
		`{"type":"message","id":"a","parentId":null,"timestamp":"` + ahead + `","message":{"role":"user","content":"x"}}` + "\n" +
		`{"type":"message","id":"b","parentId":"a","timestamp":"` + ahead + `","message":{"role":"assistant","content":[],"stopReason":"stop","usage":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":1,"cost":{"total":0}}}}` + "\n"
	_, err := m.Import(t.Context(), f.project.ID, "s", []byte(text))
	check(t, err)
	r, err := m.Fork(t.Context(), api.ForkSessionRequest{SessionID: "s", ClientKey: "k"})
	check(t, err)
	if r.Session.Inherited.Input != 1 || r.Session.Usage.Input != 0 {
		t.Errorf("%+v", r.Session)
	}
}
