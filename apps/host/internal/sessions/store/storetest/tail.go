package storetest

import (
	"fmt"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// testTail holds that the pieces behind marks are the session, whatever is read
// between two appends, and that a revision is that of the list.
func testTail(t *testing.T, p *place) {
	log := p.create("s1", line("e1", ""))
	if _, ok := p.Provider.(store.Tailer); !ok {
		t.Fatal("the provider does not read tails")
	}
	tail := p.tail("")
	if tail.File == nil || len(tail.File.Tree.Entries()) != 1 {
		t.Fatalf("the first reading gave %+v", tail)
	}
	for i := 2; i < 6; i++ {
		parent := fmt.Sprintf("e%d", i-1)
		id := fmt.Sprintf("e%d", i)
		check(t, log.Append(t.Context(), raw([]string{line(id, parent)})...))
		next := p.tail(tail.Mark)
		if next.File != nil || len(next.Entries) != 1 || next.Entries[0].ID != id {
			t.Fatalf("after the mark %q comes %+v", tail.Mark, next)
		}
		if again := p.tail(next.Mark); again.File != nil || len(again.Entries) != 0 || again.Revision != next.Revision {
			t.Fatalf("after the end comes %+v", again)
		}
		if tail.Revision == next.Revision {
			t.Fatalf("the revision %q stays", next.Revision)
		}
		tail = next
	}
	check(t, log.Close())
	p.restart()
	list, err := p.List(t.Context())
	check(t, err)
	if len(list) != 1 || list[0].Revision != tail.Revision {
		t.Errorf("the list has %+v, the tail the revision %q", list, tail.Revision)
	}
	for _, mark := range []string{"x", "-1.-1", "1.1", "99999999999999999.3", tail.Mark + "9"} {
		if all := p.tail(mark); all.File == nil || len(all.File.Tree.Entries()) != 5 {
			t.Errorf("the mark %q gave %+v", mark, all)
		}
	}
	if _, err := store.ReadTail(t.Context(), p.Provider, "nobody", ""); err == nil {
		t.Error("a session that is not there was read")
	}
}

func (p *place) tail(mark string) store.Tail {
	p.t.Helper()
	tail, err := store.ReadTail(p.t.Context(), p.Provider, "s1", mark)
	check(p.t, err)
	return tail
}

func line(id, parent string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hi"}}`, id, parent)
}
