package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// benchListed is how many entries each session of BenchmarkList has.
const benchListed = 100

// Bench measures a provider with sessions of 1 000, 10 000 and 100 000 entries of
// about 500 bytes: an append, synced as always, to one of them; opening it and
// building its context; and listing as many entries in sessions of 100.
func Bench(b *testing.B, p store.Provider) {
	for _, entries := range []int{1_000, 10_000, 100_000} {
		id := fmt.Sprint("bench-", entries)
		makeSession(b, p, id, entries)
		b.Run(fmt.Sprint("append/", entries), func(b *testing.B) { benchAppend(b, p, id) })
		b.Run(fmt.Sprint("open/", entries), func(b *testing.B) { benchOpen(b, p, id, entries) })
	}
	listed := len(mustList(b, p))
	for _, entries := range []int{1_000, 10_000, 100_000} {
		for ; listed*benchListed < entries; listed++ {
			makeSession(b, p, fmt.Sprint("list-", listed), benchListed)
		}
		b.Run(fmt.Sprint("list/", entries), func(b *testing.B) {
			for b.Loop() {
				if got := len(mustList(b, p)); got != listed {
					b.Fatalf("%d sessions, want %d", got, listed)
				}
			}
		})
	}
}

func mustList(b *testing.B, p store.Provider) []store.Info {
	list, err := p.List(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return list
}

func benchMessage(i int, id, parent string) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-02T03:04:06.000Z",`+
		`"message":{"role":%q,"content":[{"type":"text","text":"%s"}],"timestamp":1767323046000},"seq":%d}`,
		id, parent, []string{"user", "assistant"}[i%2], strings.Repeat("some words ", 27), i+1)
}

func makeSession(b *testing.B, p store.Provider, id string, entries int) {
	b.Helper()
	header := json.RawMessage(`{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}`)
	lines, parent := make([]json.RawMessage, entries), "null"
	for i := range lines {
		name := fmt.Sprintf("%08x", i)
		lines[i], parent = benchMessage(i, name, parent), fmt.Sprintf("%q", name)
	}
	log, err := p.Create(b.Context(), "prj", header, lines...)
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
}

func benchOpen(b *testing.B, p store.Provider, id string, least int) {
	for b.Loop() {
		log, err := p.Open(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		s := store.NewSession(log)
		if n := len(s.Tree().LeafContext().Messages); n < least {
			b.Fatalf("%d messages", n)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchAppend(b *testing.B, p store.Provider, id string) {
	log, err := p.Open(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	s := store.NewSession(log)
	message := json.RawMessage(`{"role":"user","content":"` + strings.Repeat("some words ", 27) + `","timestamp":1767323046000}`)
	for b.Loop() {
		if _, err := s.AppendMessage(b.Context(), store.Mark{}, message); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
