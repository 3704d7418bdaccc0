package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

func testCreateListDelete(t *testing.T, p *place) {
	ctx := t.Context()
	if list, err := p.List(ctx); err != nil || len(list) != 0 {
		t.Fatalf("an empty place lists %v, %v", list, err)
	}
	check(t, p.create("one").Close())
	check(t, p.create("two", said("a", "", "hi")).Close())
	log, err := p.Create(ctx, "prj_2", headerLine(t, "three"))
	check(t, err)
	check(t, log.Close())
	if got := p.listed(); !reflect.DeepEqual(got, map[string]string{"one": project, "two": project, "three": "prj_2"}) {
		t.Fatalf("listed are %v", got)
	}
	p.restart()
	check(t, p.Delete(ctx, "one"))
	if err := p.Delete(ctx, "one"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleting twice: %v", err)
	}
	if _, err := p.Read(ctx, "one"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("reading what was deleted: %v", err)
	}
	p.restart()
	if got := p.listed(); len(got) != 2 || got["one"] != "" {
		t.Fatalf("after deleting, listed are %v", got)
	}
	check(t, p.create("one").Close()) // the id is free again
}

// listed returns the ids that are listed, with their projects.
func (p *place) listed() map[string]string {
	p.t.Helper()
	list, err := p.List(p.t.Context())
	check(p.t, err)
	ids := map[string]string{}
	for _, info := range list {
		ids[info.Header.ID] = info.ProjectID
		if info.Header.Cwd != header("").Cwd || info.Modified.IsZero() || info.Revision == "" {
			p.t.Errorf("listed as %+v", info)
		}
	}
	return ids
}

func testRefusals(t *testing.T, p *place) {
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"open":   func() error { _, err := p.Open(ctx, "none"); return err },
		"read":   func() error { _, err := p.Read(ctx, "none"); return err },
		"delete": func() error { return p.Delete(ctx, "none") },
		"dots":   func() error { _, err := p.Open(ctx, "../../etc/passwd"); return err },
		"empty":  func() error { _, err := p.Read(ctx, ""); return err },
	} {
		if err := call(); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	log := p.create("one")
	_, err := p.Create(ctx, "prj_2", headerLine(t, "one"))
	if !errors.Is(err, store.ErrExists) {
		t.Errorf("the same id in another project: %v, want ErrExists", err)
	}
	check(t, log.Close())
	for _, bad := range []struct {
		project, header string
		line            string
		want            error
	}{
		{"../x", string(headerLine(t, "bad")), "", store.ErrBadName},
		{"", string(headerLine(t, "bad")), "", store.ErrBadName},
		{project, string(headerLine(t, "a/b")), "", store.ErrBadName},
		{project, `{"type":"session","version":3}`, "", store.ErrBadLine},
		{project, `{"type":"session","id":"bad"}`, "", store.ErrBadLine},
		{project, string(headerLine(t, "bad")), `{"type":"custom"}`, store.ErrBadLine},
		{project, string(headerLine(t, "bad")), said("a", "", "x") + "\n" + said("b", "a", "x"), store.ErrBadLine},
	} {
		var lines []json.RawMessage
		if bad.line != "" {
			lines = append(lines, json.RawMessage(bad.line))
		}
		if _, err := p.Create(ctx, bad.project, json.RawMessage(bad.header), lines...); !errors.Is(err, bad.want) {
			t.Errorf("%s in %q: %v, want %v", bad.header, bad.project, err, bad.want)
		}
	}
	if got := p.listed(); len(got) != 1 {
		t.Errorf("what was refused is there: %v", got)
	}
}

// odd are lines that a careless provider would change.
var odd = []string{
	said("a", "", "plain"),
	`{"type":"custom","customType":"x","data":{"n":9007199254740993,"m":1.0,"e":1e2,"z":-0},"id":"b","parentId":"a","timestamp":"t"}`,
	`{ "id" : "c" , "type":"from_the_future",  "parentId":"b", "b":1, "a":2, "b":3 }`,
	`{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"user","content":"\u0041\ud83d\ude00 😀 <&>\u2028` + "\u2028" + `\u0000\/"}}`,
	`{"type":"message","id":"e","parentId":"nowhere","timestamp":"t","seq":7,"message":{"role":"user","content":"` + strings.Repeat("long ", 20000) + `"}}`,
	`{"type":"custom","customType":"x","id":"F","parentId":"e","timestamp":"t"}`,
	`{"type":"custom","customType":"x","id":"f","parentId":"F","timestamp":"t"}`,
	`{"type":"custom","customType":"x","id":"f ","parentId":"f","timestamp":"t"}`,
	`{"type":"custom","customType":"x","id":"ü","parentId":"f ","timestamp":"t"}`,
}

func testLinesAsTheyAre(t *testing.T, p *place) {
	first := `{"type":"session","version":3,"id":"odd","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x","extra":{"b":1,"a":1.50},"parentSession":"/y"}`
	log, err := p.Create(t.Context(), project, json.RawMessage(first), raw(odd[:3])...)
	check(t, err)
	check(t, log.Append(t.Context(), raw(odd[3:5])...))
	for _, line := range odd[5:] {
		check(t, log.Append(t.Context(), json.RawMessage(line)))
	}
	check(t, log.Append(t.Context())) // nothing at all
	p.holds("odd", first, odd)
	check(t, log.Close())
	p.restart()
	p.holds("odd", first, odd)
	log, err = p.Open(t.Context(), "odd")
	check(t, err)
	if got := texts(log.File().Tree.Entries()); !reflect.DeepEqual(got, odd) {
		t.Fatalf("opened as\n%.3000s", strings.Join(got, "\n"))
	}
	check(t, log.Close())
}

// holds compares what a reader sees of a session, byte for byte.
func (p *place) holds(id, first string, lines []string) {
	p.t.Helper()
	file, err := p.Read(p.t.Context(), id)
	check(p.t, err)
	if string(file.HeaderLine) != first {
		p.t.Fatalf("the header is %s", file.HeaderLine)
	}
	if got := texts(file.Tree.Entries()); !reflect.DeepEqual(got, lines) {
		p.t.Fatalf("it holds\n%.3000s\nwant\n%.3000s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func testAllOrNothing(t *testing.T, p *place) {
	log := p.create("s", said("a", "", "one"))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, try := range map[string]func() error{
		"a bad line": func() error {
			return log.Append(t.Context(), raw([]string{said("b", "a", "x"), `{"type":"message"`})...)
		},
		"no object":    func() error { return log.Append(t.Context(), raw([]string{said("b", "a", "x"), `null`})...) },
		"a line end":   func() error { return log.Append(t.Context(), raw([]string{said("b", "a", "x"), "{}\n{}"})...) },
		"an ended ctx": func() error { return log.Append(canceled, json.RawMessage(said("b", "a", "x"))) },
	} {
		want := store.ErrBadLine
		if name == "an ended ctx" {
			want = context.Canceled
		}
		if err := try(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		p.holds("s", string(headerLine(t, "s")), []string{said("a", "", "one")})
	}
	check(t, log.Append(t.Context(), json.RawMessage(said("b", "a", "two"))))
	check(t, log.Close())
	p.restart()
	p.holds("s", string(headerLine(t, "s")), []string{said("a", "", "one"), said("b", "a", "two")})
}

func testOneWriter(t *testing.T, p *place) {
	log := p.create("s")
	other := p.open(t)
	for name, try := range map[string]func() error{
		"open":                  func() error { _, err := p.Open(t.Context(), "s"); return err },
		"open of another":       func() error { _, err := other.Open(t.Context(), "s"); return err },
		"delete":                func() error { return p.Delete(t.Context(), "s") },
		"delete of another":     func() error { return other.Delete(t.Context(), "s") },
		"open of another again": func() error { _, err := other.Open(t.Context(), "s"); return err },
	} {
		err := try()
		var inUse *store.InUseError
		if !errors.As(err, &inUse) || !errors.Is(err, store.ErrInUse) {
			t.Errorf("%s: %v, want an InUseError", name, err)
		} else if inUse.ID != "s" || inUse.Holder.PID != os.Getpid() || inUse.Holder.Program == "" {
			t.Errorf("%s: the holder is %+v", name, inUse)
		}
	}
	check(t, log.Append(t.Context(), json.RawMessage(said("a", "", "mine")))) // it was left in peace
	check(t, log.Close())
	log, err := other.Open(t.Context(), "s")
	check(t, err)
	if n := len(log.File().Tree.Entries()); n != 1 {
		t.Errorf("the other sees %d entries", n)
	}
	check(t, log.Close())
	check(t, other.Close())
}

func testClosed(t *testing.T, p *place) {
	log := p.create("s")
	check(t, log.Close())
	check(t, log.Close())
	if err := log.Append(t.Context(), json.RawMessage(said("a", "", "x"))); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	p.holds("s", string(headerLine(t, "s")), []string{})
}

// testReadWhileWriting reads while lines are appended two by two: every reader
// sees an even number, and no fewer than were acknowledged before it began.
func testReadWhileWriting(t *testing.T, p *place) {
	const pairs = 60
	log := p.create("s")
	var acked int
	var mu sync.Mutex
	done := make(chan error, 1)
	go func() {
		parent := ""
		for i := range pairs {
			a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
			if err := log.Append(t.Context(), raw([]string{said(a, parent, "x"), said(b, a, "y")})...); err != nil {
				done <- err
				return
			}
			parent = b
			mu.Lock()
			acked += 2
			mu.Unlock()
		}
		done <- nil
	}()
	for last := 0; last < 2*pairs; {
		mu.Lock()
		atLeast := acked
		mu.Unlock()
		file, err := p.Read(t.Context(), "s")
		check(t, err)
		last = len(file.Tree.Entries())
		if len(file.Damage) > 0 || last < atLeast || last%2 != 0 {
			t.Fatalf("a reader sees %d entries of %d, damage %v", last, atLeast, file.Damage)
		}
		select {
		case err := <-done:
			check(t, err)
			done <- nil
		default:
		}
	}
	check(t, <-done)
	check(t, log.Close())
}

// testManyWriters appends to many sessions at once.
func testManyWriters(t *testing.T, p *place) {
	const sessions, lines = 16, 12
	var wg sync.WaitGroup
	failed := make([]error, sessions)
	for i := range sessions {
		wg.Go(func() { failed[i] = appendAlone(t, p, fmt.Sprintf("s%d", i), lines) })
	}
	wg.Wait()
	check(t, errors.Join(failed...))
	p.restart()
	ids := p.listed()
	for i := range sessions {
		id := fmt.Sprintf("s%d", i)
		file, err := p.Read(t.Context(), id)
		check(t, err)
		if n := len(file.Tree.Entries()); n != lines || ids[id] == "" {
			t.Errorf("session %s has %d entries", id, n)
		}
	}
}

func appendAlone(t *testing.T, p *place, id string, lines int) error {
	first, err := session.EncodeHeader(header(id))
	if err != nil {
		return err
	}
	log, err := p.Create(t.Context(), project, first)
	if err != nil {
		return err
	}
	s := store.NewSession(log)
	for n := range lines {
		if _, err := s.AppendMessage(t.Context(), store.Mark{}, user(fmt.Sprint(id, n))); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if path, err := s.Tree().Path(s.Tree().Leaf()); err != nil || len(path) != lines || !slices.Equal(texts(path), texts(s.Tree().Entries())) {
		return errors.Join(fmt.Errorf("the path of %s has %d entries", id, len(path)), err, s.Close())
	}
	return s.Close()
}
