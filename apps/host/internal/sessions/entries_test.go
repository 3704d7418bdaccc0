package sessions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// manyEntries makes a session with n labels' worth of log and returns all of it.
func manyEntries(t *testing.T, n int) (*sessions.Session, []session.Entry) {
	t.Helper()
	f := newFixture(t, modeltest.New(modeltest.Say("a")))
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "one")
	w.wait(func() bool { return w.ended == 1 })
	for i := range n {
		if err := s.Rename(t.Context(), "cli_x", fmt.Sprintf("name %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	var all []session.Entry
	for after := uint64(0); ; {
		r, err := s.Entries(t.Context(), api.GetEntriesRequest{After: max(after, 1), Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, r.Entries...); r.After == 0 {
			break
		}
		after = r.After
	}
	first, err := s.Entries(t.Context(), api.GetEntriesRequest{Around: all[0].ID, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(first.Entries, func(e session.Entry) bool { return e.ID == all[0].ID })
	return s, append(slices.Clone(first.Entries[:at]), all...)
}

// Whatever the end that an entry holds and the place that it jumps to: the part around
// the place, with what is fetched before and after it, joins the end without a gap and
// without an entry twice.
func TestAPlaceInTheMiddleJoinsTheEnd(t *testing.T) {
	s, all := manyEntries(t, 300)
	random := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		end := random.IntN(len(all)-2) + 2 // the entry holds all[end:]
		before, at := all[end].Seq, random.IntN(end)
		r, err := s.Entries(t.Context(), api.GetEntriesRequest{Around: all[at].ID, Before: before, Limit: random.IntN(60) + 1})
		if err != nil {
			t.Fatal(err)
		}
		part, first, after := r.Entries, r.Before, r.After
		if !slices.ContainsFunc(part, func(e session.Entry) bool { return e.ID == all[at].ID }) || !r.OnPath || r.PathID != part[len(part)-1].ID {
			t.Fatalf("around %d of %d: on path %t, path to %q, %d entries", at, end, r.OnPath, r.PathID, len(part))
		}
		for after > 0 {
			r, err := s.Entries(t.Context(), api.GetEntriesRequest{After: after, Before: before, Limit: random.IntN(60) + 1})
			if err != nil || len(r.Entries) == 0 {
				t.Fatalf("after %d before %d: %d entries, %v", after, before, len(r.Entries), err)
			}
			part, after = append(part, r.Entries...), r.After
		}
		for first > 0 {
			r, err := s.Entries(t.Context(), api.GetEntriesRequest{Before: first, Limit: random.IntN(60) + 1})
			if err != nil || len(r.Entries) == 0 {
				t.Fatalf("before %d: %d entries, %v", first, len(r.Entries), err)
			}
			part, first = append(r.Entries, part...), r.Before
		}
		if whole := append(part, all[end:]...); !slices.EqualFunc(whole, all, sameEntry) {
			t.Fatalf("around %d of %d: %d entries, want %d", at, end, len(whole), len(all))
		}
	}
}

func TestAPlaceOnAnotherBranch(t *testing.T) {
	s, all := manyEntries(t, 4)
	user := all[slices.IndexFunc(all, func(e session.Entry) bool { return e.Role() == session.RoleUser })]
	leaf := all[len(all)-1].ID
	if _, err := s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ClientKey: "back", ExpectedLeaf: leaf, TargetEntryID: user.ID}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Entries(t.Context(), api.GetEntriesRequest{Around: leaf, Limit: 2})
	if err != nil || r.OnPath || len(r.Entries) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []api.GetEntriesRequest{{Around: "nobody"}, {Around: leaf, Before: 2}, {Around: leaf, After: 2}, {After: 1, Limit: -1}} {
		if _, err := s.Entries(t.Context(), bad); err == nil {
			t.Errorf("%+v was answered", bad)
		}
	}
}
