package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// testEveryEntry appends one entry of every kind and opens the session again after
// each.
func testEveryEntry(t *testing.T, p *place) {
	ctx, label := t.Context(), "a mark"
	first := func(s *store.Session) string { return s.Tree().Entries()[0].ID }
	s := p.session("s")
	for i, step := range []struct {
		want session.EntryType
		do   func(m store.Mark) (session.Entry, error)
	}{
		{session.TypeModelChange, func(m store.Mark) (session.Entry, error) { return s.AppendModelChange(ctx, m, "p", "m") }},
		{session.TypeThinkingLevelChange, func(m store.Mark) (session.Entry, error) { return s.AppendThinkingLevelChange(ctx, m, "high") }},
		{session.TypeMessage, func(m store.Mark) (session.Entry, error) { return s.AppendMessage(ctx, m, user("hi")) }},
		{session.TypeMessage, func(m store.Mark) (session.Entry, error) { return s.AppendMessage(ctx, m, assistant("ho")) }},
		{session.TypeLabel, func(m store.Mark) (session.Entry, error) { return s.AppendLabel(ctx, m, first(s), &label) }},
		{session.TypeSessionInfo, func(m store.Mark) (session.Entry, error) { return s.AppendSessionInfo(ctx, m, " A\nname ") }},
		{session.TypeCustom, func(m store.Mark) (session.Entry, error) {
			return s.AppendCustom(ctx, m, "scorel.test", json.RawMessage(`{"n":9007199254740993}`))
		}},
		{session.TypeCustomMessage, func(m store.Mark) (session.Entry, error) {
			return s.AppendCustomMessage(ctx, m, store.CustomMessage{CustomType: "x", Content: json.RawMessage(`"note"`), Display: true})
		}},
		{session.TypeUsage, func(m store.Mark) (session.Entry, error) {
			return s.AppendUsage(ctx, m, store.Usage{Kind: "title", Provider: "p", Model: "m", Usage: json.RawMessage(`{"input":1}`)})
		}},
		{session.TypeCustom, func(m store.Mark) (session.Entry, error) { return s.AppendCustom(ctx, m, "scorel.empty", nil) }},
		{session.TypeCompaction, func(m store.Mark) (session.Entry, error) {
			return s.AppendCompaction(ctx, m, session.Compaction{Summary: "sum", FirstKeptEntryID: s.Tree().Entries()[3].ID, TokensBefore: 9})
		}},
		{session.TypeBranchSummary, func(m store.Mark) (session.Entry, error) {
			return s.AppendBranchSummary(ctx, m, s.Tree().Entries()[2].ID, session.BranchSummary{Summary: "went there"})
		}},
		{"from_the_future", func(store.Mark) (session.Entry, error) {
			return s.AppendOther(ctx, "from_the_future", json.RawMessage(`{"x":{"y":1.0}}`))
		}},
		{session.TypeLabel, func(m store.Mark) (session.Entry, error) { return s.AppendLabel(ctx, m, first(s), nil) }},
	} {
		mark := store.Mark{}
		if i%2 == 1 {
			mark = store.Mark{Seq: uint64(10 * i), ClientID: "cli_x", ClientKey: fmt.Sprint("k", i), TurnID: "turn_1"}
		}
		entry := got(t)(step.do(mark))
		if entry.Type != step.want || entry.Text("clientKey") != mark.ClientKey || i%2 == 1 && s.LastSeq() != mark.Seq {
			t.Fatalf("step %d made %s, last seq %d", i, entry.Raw, s.LastSeq())
		}
		if last := s.Tree().Entries(); s.Tree().Leaf() != entry.ID || last[len(last)-1].ID != entry.ID {
			t.Fatalf("step %d: the leaf is %q", i, s.Tree().Leaf())
		}
		s = p.again(s)
	}
	check(t, s.Close())
}

func testLeaf(t *testing.T, p *place) {
	ctx := t.Context()
	s := p.session("s")
	if _, err := s.SwitchLeaf(ctx, store.Mark{}, ""); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("switching to nothing: %v", err)
	}
	one := got(t)(s.AppendMessage(ctx, store.Mark{}, user("one")))
	two := got(t)(s.AppendMessage(ctx, store.Mark{}, assistant("two")))
	moved := got(t)(s.SwitchLeaf(ctx, store.Mark{Seq: 3}, one.ID))
	if moved.ParentID != one.ID || moved.CustomType != session.CustomLeaf || !strings.Contains(string(moved.Raw), two.ID) {
		t.Fatalf("the move was stored as %s", moved.Raw)
	}
	s = p.again(s)
	if text := fmt.Sprintf("%s", s.Tree().LeafContext().Messages); strings.Contains(text, "two") {
		t.Fatalf("after the move the context is %s", text)
	}
	other := got(t)(s.AppendMessage(ctx, store.Mark{}, assistant("other")))
	got(t)(s.ResetLeaf(ctx, store.Mark{}))
	s = p.again(s)
	if n := len(s.Tree().LeafContext().Messages); n != 0 {
		t.Fatalf("after the reset the context has %d messages", n)
	}
	root := got(t)(s.AppendMessage(ctx, store.Mark{}, user("anew")))
	if path, err := s.Tree().Path(s.Tree().Leaf()); err != nil || len(path) != 2 || path[1].ID != root.ID {
		t.Fatalf("the path is %v, %v", path, err)
	}
	if _, err := s.SwitchLeaf(ctx, store.Mark{}, "nowhere"); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("switching to nowhere: %v", err)
	}
	got(t)(s.SwitchLeaf(ctx, store.Mark{}, other.ID))
	s = p.again(s)
	if common, err := s.Tree().CommonAncestor(s.Tree().Leaf(), two.ID); err != nil || common != one.ID {
		t.Errorf("the branches meet at %q, %v", common, err)
	}
	check(t, s.Close())
}

func testBranched(t *testing.T, p *place) {
	ctx, label := t.Context(), "here"
	s := p.session("s")
	one := got(t)(s.AppendMessage(ctx, store.Mark{ClientKey: "k1"}, user("one")))
	mark := got(t)(s.AppendLabel(ctx, store.Mark{}, one.ID, &label))
	two := got(t)(s.AppendMessage(ctx, store.Mark{}, assistant("two")))
	got(t)(s.AppendCustom(ctx, store.Mark{}, session.CustomQueue, json.RawMessage(`{"items":[{"clientKey":"k2"}]}`)))
	got(t)(s.AppendCompaction(ctx, store.Mark{}, session.Compaction{Summary: "sum", FirstKeptEntryID: mark.ID}))
	three := got(t)(s.AppendMessage(ctx, store.Mark{}, user("three")))
	got(t)(s.AppendMessage(ctx, store.Mark{}, assistant("not on the branch")))

	h := header("branch")
	h.ParentSession = "s"
	b, err := s.Branched(ctx, p, "prj_2", h, three.ID)
	check(t, err)
	b = p.again2(b, &s)
	if labels := b.Tree().Labels(); len(labels) != 1 || labels[0].TargetID != one.ID || labels[0].Timestamp != mark.Timestamp {
		t.Errorf("labels are %v", labels)
	}
	kinds := []string{}
	for _, e := range b.Tree().Entries() {
		kinds = append(kinds, string(e.Type))
	}
	if got := strings.Join(kinds, " "); got != "message message compaction message label" {
		t.Errorf("the branch holds %s", got)
	}
	context := b.Tree().LeafContext()
	if context.Hole != nil || !slices.Equal(context.Sources[1:], []string{two.ID, three.ID}) {
		t.Errorf("its context comes from %v, %v", context.Sources, context.Hole)
	}
	got(t)(b.AppendMessage(ctx, store.Mark{}, user("goes on")))
	got(t)(s.AppendMessage(ctx, store.Mark{}, user("as before")))
	check(t, errors.Join(b.Close(), s.Close()))
	if got := p.listed()["branch"]; got != "prj_2" {
		t.Errorf("the branch is below %q", got)
	}
	log, err := p.Open(ctx, "s")
	check(t, err)
	s = p.over(log)
	if _, err := s.Branched(ctx, p, project, header("b2"), "nowhere"); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("branching from nowhere: %v", err)
	}
	if _, err := s.Branched(ctx, p, project, header("branch"), one.ID); !errors.Is(err, store.ErrExists) {
		t.Errorf("branching onto what is there: %v", err)
	}
	check(t, s.Close())
}

// again2 is again for one of two sessions that are open.
func (p *place) again2(s *store.Session, other **store.Session) *store.Session {
	p.t.Helper()
	id := (*other).Header().ID
	check(p.t, (*other).Close())
	s = p.again(s)
	log, err := p.Open(p.t.Context(), id)
	check(p.t, err)
	*other = p.over(log)
	return s
}

// testRandomHistories does anything in any order, opens the session again at any
// time, and compares it with one that was never closed.
func testRandomHistories(t *testing.T, p *place) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 7))
		s := p.session(fmt.Sprint("s", seed))
		for range 40 {
			randomStep(t, random, s)
			if random.IntN(6) == 0 {
				s = p.again(s)
			}
		}
		s = p.again(s)
		check(t, s.Close())
	}
}

func randomStep(t *testing.T, random *rand.Rand, s *store.Session) {
	t.Helper()
	ctx, entries := t.Context(), s.Tree().Entries()
	mark := store.Mark{}
	if random.IntN(2) == 0 {
		mark.Seq = s.LastSeq() + uint64(1+random.IntN(5))
	}
	some := func() string { return entries[random.IntN(len(entries))].ID }
	if len(entries) == 0 || random.IntN(3) == 0 {
		got(t)(s.AppendMessage(ctx, mark, user(fmt.Sprint("said ", random.IntN(1000)))))
		return
	}
	switch random.IntN(6) {
	case 0:
		got(t)(s.SwitchLeaf(ctx, mark, some()))
	case 1:
		got(t)(s.ResetLeaf(ctx, mark))
	case 2:
		text := []string{"", "x", "y"}[random.IntN(3)]
		got(t)(s.AppendLabel(ctx, mark, some(), &text))
	case 3:
		got(t)(s.AppendCompaction(ctx, mark, session.Compaction{Summary: "sum", FirstKeptEntryID: some()}))
	case 4:
		got(t)(s.AppendBranchSummary(ctx, mark, some(), session.BranchSummary{Summary: "left"}))
	case 5:
		got(t)(s.AppendSessionInfo(ctx, mark, fmt.Sprint("name ", random.IntN(9))))
	}
}
