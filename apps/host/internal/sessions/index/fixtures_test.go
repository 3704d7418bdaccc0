package index_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/session"
)

// home is a folder with sessions and an index of them.
type home struct {
	t        testing.TB
	dir      string
	provider store.Provider
	logger   *slog.Logger
}

func newHome(t testing.TB) *home {
	h := &home{t: t, dir: t.TempDir(), logger: slog.New(slog.DiscardHandler)}
	h.provider = file.New(filepath.Join(h.dir, "sessions"), h.logger)
	return h
}

func (h *home) path() string { return filepath.Join(h.dir, "index.db") }

func (h *home) open() *index.Index {
	h.t.Helper()
	x, err := index.Open(h.t.Context(), h.path(), h.provider, h.logger)
	check(h.t, err)
	return x
}

// touchAll touches every session that the index does not know in its newest state,
// as a host does at its start, and tells how many those were.
func (h *home) touchAll(x *index.Index) int {
	h.t.Helper()
	rows, err := x.List(h.t.Context(), index.Page{})
	check(h.t, err)
	known := map[string]index.Session{}
	for _, row := range rows {
		known[row.Header.ID] = row
	}
	list, err := h.provider.List(h.t.Context())
	check(h.t, err)
	touched := 0
	for _, info := range list {
		if row := known[info.Header.ID]; row.Stale(info) {
			x.Touch(info.Header.ID, info.ProjectID)
			touched++
		}
	}
	settle(h.t, x)
	return touched
}

func settle(t testing.TB, x *index.Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	check(t, x.Settle(ctx))
}

var dawn = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// log is an open session of a home, with a clock that goes a second for each entry.
type log struct {
	*store.Session
	h  *home
	id string
}

func (h *home) session(id, projectID string) *log {
	h.t.Helper()
	header, err := session.EncodeHeader(session.Header{
		Version: session.Version, ID: id, Timestamp: session.FormatTime(dawn), Cwd: "/home/ada/site", ProjectID: projectID,
	})
	check(h.t, err)
	opened, err := h.provider.Create(h.t.Context(), projectID, header)
	check(h.t, err)
	return h.wrap(id, opened)
}

func (h *home) wrap(id string, opened store.Log) *log {
	at := dawn.Add(time.Duration(len(opened.File().Tree.Entries())) * time.Second)
	clock := func() time.Time { at = at.Add(time.Second); return at }
	l := &log{store.NewSession(opened, store.WithClock(clock)), h, id}
	h.t.Cleanup(func() { _ = l.Close() })
	return l
}

func (l *log) say(role session.Role, text string) session.Entry {
	l.h.t.Helper()
	return l.message(session.Message{Role: role, Content: session.Content{session.Text(text)}})
}

func (l *log) message(m session.Message) session.Entry {
	l.h.t.Helper()
	raw, err := json.Marshal(m)
	check(l.h.t, err)
	e, err := l.AppendMessage(l.h.t.Context(), store.Mark{}, raw)
	check(l.h.t, err)
	return e
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// found writes hits as "session/entry", for comparison.
func found(hits []index.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.SessionID+"/"+h.EntryID)
	}
	return strings.Join(out, " ")
}

// marked writes a snippet with what was found in brackets.
func marked(h index.Hit) string {
	var b strings.Builder
	for _, part := range h.Snippet {
		if part.Found {
			fmt.Fprintf(&b, "[%s]", part.Text)
		} else {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

func search(t testing.TB, x *index.Index, q index.Query) []index.Hit {
	t.Helper()
	hits, _, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("searching %q: %v", q.Text, err)
	}
	return hits
}
