package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// testCarry imports files of every kind, and gets their bytes back.
func testCarry(t *testing.T, p *place) {
	first := string(headerLine(t, "s"))
	a, b := said("a", "", "one"), said("b", "a", "two")
	for name, c := range map[string]struct {
		text, want string // want "" is text
		damaged    bool
	}{
		"a header alone":         {text: first + "\n"},
		"lines":                  {text: first + "\n" + a + "\n" + b + "\n"},
		"odd lines":              {text: first + "\n" + strings.Join(odd, "\n") + "\n"},
		"no end at the end":      {first + "\n" + a, first + "\n" + a + "\n", false},
		"a torn tail":            {first + "\n" + a + "\n" + b[:30], first + "\n" + a + "\n", false},
		"blank lines":            {text: first + "\n\n" + a + "\n \t\n" + b + "\n\n\n"},
		"carriage returns":       {text: first + "\r\n" + a + "\r\n" + b + "\r\n"},
		"an id twice":            {text: first + "\n" + a + "\n" + b + "\n" + a + "\n"},
		"a second header":        {text: first + "\n" + a + "\n" + first + "\n" + b + "\n"},
		"garbage inside":         {text: first + "\n" + a + "\n{\"type\":\n" + b + "\n", damaged: true},
		"garbage at the front":   {text: "x\n\n" + first + "\n" + a + "\n", damaged: true},
		"no entries":             {text: first + "\n42\n{}\n{\"id\":7}\n", damaged: true},
		"bytes that are no text": {text: first + "\n" + a + "\n\xff\x00\xfe\n" + said("c", "b", "\xff") + "\n", damaged: true},
		"a long id":              {text: first + "\n" + said(strings.Repeat("x", 5000), "", "y") + "\n"},
		"an old version": {`{"type":"session","version":2,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n" + a + "\n",
			`{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n" + a + "\n", false},
		"an old version, damaged": {`{"type":"session","version":2,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n{x\n\n" + a + "\n{\"type\":",
			`{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n{x\n" + a + "\n", true},
	} {
		if c.want == "" {
			c.want = c.text
		}
		check(t, p.Import(t.Context(), "prj_2", []byte(c.text)))
		p.restart()
		projectID, data, err := p.Export(t.Context(), "s")
		if err != nil || projectID != "prj_2" || string(data) != c.want {
			t.Fatalf("%s: exported is, from %q, %v\n%.2000q\nwant\n%.2000q", name, projectID, err, data, c.want)
		}
		p.readsLike(name, c.want)
		p.goesOn(name, c.damaged)
		check(t, p.Delete(t.Context(), "s"))
	}
}

// readsLike compares a session with its file.
func (p *place) readsLike(name, text string) {
	p.t.Helper()
	got, err := p.Read(p.t.Context(), "s")
	check(p.t, err)
	want, err := session.ReadFile([]byte(text))
	check(p.t, err)
	if g, w := texts(got.Tree.Entries()), texts(want.Tree.Entries()); !equalTexts(g, w) || got.Tree.Leaf() != want.Tree.Leaf() {
		p.t.Errorf("%s: it reads as\n%.2000q\nwant\n%.2000q", name, g, w)
	}
	if len(got.Damage) != len(want.Damage) {
		p.t.Errorf("%s: damage %v, want %v", name, got.Damage, want.Damage)
	}
	for i := range min(len(got.Damage), len(want.Damage)) {
		if got.Damage[i] != want.Damage[i] {
			p.t.Errorf("%s: damage %v, want %v", name, got.Damage, want.Damage)
		}
	}
}

func equalTexts(a, b []string) bool {
	return strings.Join(a, "\n") == strings.Join(b, "\n") && len(a) == len(b)
}

// goesOn adds a line to what was imported, unless it is damaged.
func (p *place) goesOn(name string, damaged bool) {
	p.t.Helper()
	log, err := p.Open(p.t.Context(), "s")
	check(p.t, err)
	err = log.Append(p.t.Context(), raw([]string{said("more", "", "x")})...)
	if damaged != errors.Is(err, store.ErrDamaged) || !damaged && err != nil {
		p.t.Errorf("%s: adding to it: %v", name, err)
	}
	check(p.t, log.Close())
}

func testCarryRefusals(t *testing.T, p *place) {
	first, a := string(headerLine(t, "s")), said("a", "", "one")
	for name, c := range map[string]struct {
		project, text string
		want          error
	}{
		"nothing":             {project, "", store.ErrBadLine},
		"no session":          {project, a + "\n", store.ErrBadLine},
		"a newer version":     {project, strings.Replace(first, `"version":3`, `"version":4`, 1), store.ErrBadLine},
		"an id that is a way": {project, strings.Replace(first, `"id":"s"`, `"id":"../s"`, 1), store.ErrBadName},
		"no project":          {"", first, store.ErrBadName},
	} {
		if err := p.Import(t.Context(), c.project, []byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if got := p.listed(); len(got) != 0 {
		t.Errorf("what was refused is there: %v", got)
	}
	log := p.create("s", a)
	if err := p.Import(t.Context(), "prj_2", []byte(first+"\n")); !errors.Is(err, store.ErrExists) {
		t.Errorf("onto an open session: %v", err)
	}
	check(t, log.Close())
	if err := p.Import(t.Context(), "prj_2", []byte(first+"\n")); !errors.Is(err, store.ErrExists) {
		t.Errorf("onto a session: %v", err)
	}
	p.holds("s", first, []string{a})
	if _, _, err := p.Export(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("exporting nothing: %v", err)
	}
}
