// Package storetest is the contract of store.Provider as a suite. Every step looks
// at the session twice: as it is open, and after provider and session were closed
// and opened again.
package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Open opens a provider on one place where sessions are kept. Called again, it
// opens another on the same place, as another process would.
type Open func(t *testing.T) store.Provider

// Run runs the suite. newPlace makes an empty place for each test.
func Run(t *testing.T, newPlace func(t *testing.T) Open) {
	for name, test := range map[string]func(*testing.T, *place){
		"CreateListDelete": testCreateListDelete,
		"Refusals":         testRefusals,
		"LinesAsTheyAre":   testLinesAsTheyAre,
		"AllOrNothing":     testAllOrNothing,
		"OneWriter":        testOneWriter,
		"Closed":           testClosed,
		"ReadWhileWriting": testReadWhileWriting,
		"ManyWriters":      testManyWriters,
		"EveryEntry":       testEveryEntry,
		"Leaf":             testLeaf,
		"Branched":         testBranched,
		"Tail":             testTail,
		"RandomHistories":  testRandomHistories,
		"Carry":            testCarry,
		"CarryRefusals":    testCarryRefusals,
		"Chained":          testChained,
	} {
		t.Run(name, func(t *testing.T) { test(t, newPlaceFor(t, newPlace(t))) })
	}
}

// place is where a test keeps sessions, and a provider on it.
type place struct {
	t    *testing.T
	open Open
	store.Provider
	ids int
}

func newPlaceFor(t *testing.T, open Open) *place {
	p := &place{t: t, open: open, Provider: open(t)}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("closing the provider: %v", err)
		}
	})
	return p
}

// restart closes the provider and opens another on the same place.
func (p *place) restart() {
	p.t.Helper()
	check(p.t, p.Close())
	p.Provider = p.open(p.t)
}

const project = "prj_1"

func header(id string) session.Header {
	return session.Header{
		Type: session.TypeSession, Version: session.Version, ID: id, Timestamp: "2026-01-02T03:04:05.678Z",
		Cwd: "/home/ada/site", ProjectID: project,
	}
}

func headerLine(t *testing.T, id string) json.RawMessage {
	t.Helper()
	line, err := session.EncodeHeader(header(id))
	check(t, err)
	return line
}

// create makes a session with lines and opens it.
func (p *place) create(id string, lines ...string) store.Log {
	p.t.Helper()
	log, err := p.Create(p.t.Context(), project, headerLine(p.t, id), raw(lines)...)
	check(p.t, err)
	return log
}

// session makes a session.
func (p *place) session(id string) *store.Session {
	p.t.Helper()
	return p.over(p.create(id))
}

// over opens a session over a log, with times and ids that do not depend on chance.
func (p *place) over(log store.Log) *store.Session {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return store.NewSession(log,
		store.WithClock(func() time.Time { now = now.Add(time.Second); return now }),
		store.WithIDs(func() string { p.ids++; return fmt.Sprintf("%08x", p.ids) }))
}

// again closes a session and its provider, opens both, and compares: nothing that
// was stored is gone, and nothing else is there.
func (p *place) again(s *store.Session) *store.Session {
	p.t.Helper()
	before := snapshotOf(s)
	p.sameRead(before)
	check(p.t, s.Close())
	p.restart()
	log, err := p.Open(p.t.Context(), before.Header.ID)
	check(p.t, err)
	s = p.over(log)
	same(p.t, "after opening it again", snapshotOf(s), before)
	return s
}

// sameRead compares an open session with what a reader sees of it.
func (p *place) sameRead(want snapshot) {
	p.t.Helper()
	file, err := p.Read(p.t.Context(), want.Header.ID)
	check(p.t, err)
	file.Tree.Number(0, 0)
	if got, want := texts(file.Tree.Entries()), texts(want.Entries); !reflect.DeepEqual(got, want) {
		p.t.Fatalf("a reader sees\n%v\nwant\n%v", got, want)
	}
}

// same compares snapshots by what can be seen of them.
func same(t *testing.T, when string, got, want snapshot) {
	t.Helper()
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"header", got.Header, want.Header},
		{"name", got.Name, want.Name},
		{"leaf", got.LeafID, want.LeafID},
		{"entries", texts(got.Entries), texts(want.Entries)},
		{"seqs", seqs(got.Entries), seqs(want.Entries)},
		{"active path", texts(got.ActivePath), texts(want.ActivePath)},
		{"children", got.Children, want.Children},
		{"labels", got.Labels, want.Labels},
		{"context", fmt.Sprintf("%s", got.Context.Messages), fmt.Sprintf("%s", want.Context.Messages)},
		{"model", got.Context.Model, want.Context.Model},
		{"thinking level", got.Context.ThinkingLevel, want.Context.ThinkingLevel},
		{"damage", got.Damage, want.Damage},
	} {
		if !reflect.DeepEqual(part.got, part.want) {
			t.Fatalf("%s the %s is\n%v\nwant\n%v", when, part.name, part.got, part.want)
		}
	}
}

func texts(entries []session.Entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, string(e.Raw))
	}
	return list
}

func seqs(entries []session.Entry) []uint64 {
	list := []uint64{}
	for _, e := range entries {
		list = append(list, e.Seq)
	}
	return list
}

func raw(lines []string) []json.RawMessage {
	list := make([]json.RawMessage, len(lines))
	for i, line := range lines {
		list[i] = json.RawMessage(line)
	}
	return list
}

// said is the line of a person's message; parent "" is a root.
func said(id, parent, text string) string {
	up := `null`
	if parent != "" {
		up = `"` + parent + `"`
	}
	return `{"type":"message","id":"` + id + `","parentId":` + up + `,"timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":"` + text + `"}}`
}

func user(text string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}],"timestamp":1767323047000}`, text))
}

func assistant(text string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}],"provider":"p","model":"m","stopReason":"stop","timestamp":1767323047000}`, text))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func got(t *testing.T) func(e session.Entry, err error) session.Entry {
	return func(e session.Entry, err error) session.Entry {
		t.Helper()
		check(t, err)
		return e
	}
}
