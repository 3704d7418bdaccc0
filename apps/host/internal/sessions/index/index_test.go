package index_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}

// state is all that an index tells, for comparison.
func state(t *testing.T, x *index.Index) (rows []index.Session, hits map[string]string) {
	t.Helper()
	rows, err := x.List(t.Context(), index.Page{})
	check(t, err)
	hits = map[string]string{}
	for _, word := range words() {
		var names []string
		for _, h := range search(t, x, index.Query{Text: word}) {
			names = append(names, fmt.Sprintf("%s/%s/%d/%s", h.SessionID, h.EntryID, h.Seq, marked(h)))
		}
		hits[word] = sorted(names)
	}
	return rows, hits
}

func words() []string {
	return []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}
}

// step does something random to a session.
func (l *log) step(r *rand.Rand) {
	t, ctx := l.h.t, l.h.t.Context()
	text := words()[r.IntN(8)] + " " + words()[r.IntN(8)]
	var err error
	switch entries := l.Tree().Entries(); r.IntN(10) {
	case 0:
		_, err = l.AppendSessionInfo(ctx, store.Mark{}, text)
	case 1:
		_, err = l.AppendModelChange(ctx, store.Mark{}, "p", text)
	case 2:
		if len(entries) > 0 {
			_, err = l.AppendBranchSummary(ctx, store.Mark{}, entries[r.IntN(len(entries))].ID, session.BranchSummary{Summary: text})
		}
	case 3:
		_, err = l.AppendCustom(ctx, store.Mark{}, session.CustomQueue, []byte(`{"items":[{"clientKey":"k"}]}`))
	case 4:
		l.say(session.RoleAssistant, text)
	default:
		l.say(session.RoleUser, text)
	}
	check(t, err)
}

func TestGrowingEqualsRebuilding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h := newHome(t)
	x := h.open()
	logs := []*log{h.session("aaaa", "prj_1"), h.session("bbbb", "prj_2"), h.session("cccc", "prj_1")}
	for range 40 {
		for range r.IntN(8) {
			l := logs[r.IntN(len(logs))]
			l.step(r)
			x.Touch(l.id, projectOf(l))
		}
		settle(t, x)
		if r.IntN(8) == 0 {
			check(t, x.Close())
			x = h.open()
		}
	}
	if n := h.touchAll(x); n != 0 {
		t.Errorf("%d sessions are stale though all were touched", n)
	}
	rows, hits := state(t, x)
	check(t, x.Close())
	check(t, os.Remove(h.path()))
	anew := h.open()
	if n := h.touchAll(anew); n != 3 {
		t.Errorf("%d sessions are stale to an empty index", n)
	}
	freshRows, freshHits := state(t, anew)
	check(t, anew.Close())
	if !reflect.DeepEqual(rows, freshRows) || len(rows) != 3 {
		t.Errorf("rows:\n%+v\nanew:\n%+v", rows, freshRows)
	}
	if !reflect.DeepEqual(hits, freshHits) {
		t.Errorf("hits:\n%v\nanew:\n%v", hits, freshHits)
	}
}

func projectOf(l *log) string { return l.Header().ProjectID }

// counting tells what is read of the sessions.
type counting struct {
	store.Provider
	mu    sync.Mutex
	tails []store.Tail
}

func (c *counting) Tail(ctx context.Context, id, mark string) (store.Tail, error) {
	tail, err := c.Provider.(store.Tailer).Tail(ctx, id, mark)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tails = append(c.tails, tail)
	return tail, err
}

func TestOnlyTheEndOfAGrownSessionIsRead(t *testing.T) {
	h := newHome(t)
	c := &counting{Provider: h.provider}
	h.provider = c
	l := h.session("aaaa", "prj_1")
	for range 50 {
		l.say(session.RoleUser, "alpha")
	}
	x := h.open()
	h.touchAll(x)
	check(t, x.Close())
	c.tails = nil
	l.say(session.RoleUser, "omega")
	x = h.open()
	defer x.Close()
	if n := h.touchAll(x); n != 1 {
		t.Fatalf("%d sessions were stale", n)
	}
	if len(c.tails) != 1 || c.tails[0].File != nil || len(c.tails[0].Entries) != 1 {
		t.Fatalf("more was read than the end: %+v", c.tails)
	}
	if hits := search(t, x, index.Query{Text: "omega"}); len(hits) != 1 || hits[0].Seq != 51 {
		t.Fatalf("%+v", hits)
	}
}

func TestRemove(t *testing.T) {
	h := newHome(t)
	x := h.open()
	defer x.Close()
	h.session("aaaa", "prj_1").say(session.RoleUser, "needle")
	l := h.session("bbbb", "prj_1")
	l.say(session.RoleUser, "needle")
	h.touchAll(x)
	x.Remove("aaaa")
	check(t, l.Close())
	check(t, h.provider.Delete(t.Context(), "bbbb"))
	x.Touch("bbbb", "prj_1") // it is gone when it is read
	settle(t, x)
	rows, err := x.List(t.Context(), index.Page{})
	if hits := search(t, x, index.Query{Text: "needle"}); err != nil || len(rows) != 0 || len(hits) != 0 {
		t.Fatalf("%v %+v %+v", err, rows, hits)
	}
}

func TestList(t *testing.T) {
	h := newHome(t)
	x := h.open()
	defer x.Close()
	for i := range 7 {
		l := h.session(fmt.Sprintf("s%d", i), fmt.Sprintf("prj_%d", i%2))
		for range i / 2 { // some were last used at the same time
			l.say(session.RoleUser, fmt.Sprintf("Say %d\nplease", i))
		}
	}
	h.touchAll(x)
	for project, want := range map[string]string{"": "s6 s5 s4 s3 s2 s1 s0", "prj_0": "s6 s4 s2 s0", "prj_9": ""} {
		var got []string
		page := index.Page{ProjectID: project, Limit: 3}
		for {
			rows, err := x.List(t.Context(), page)
			check(t, err)
			for _, row := range rows {
				got = append(got, row.Header.ID)
			}
			if len(rows) < 3 {
				break
			}
			page.After = &rows[2]
		}
		if strings.Join(got, " ") != want {
			t.Errorf("project %q: %v, want %s", project, got, want)
		}
	}
	rows, err := x.List(t.Context(), index.Page{Limit: 1})
	check(t, err)
	if d := rows[0]; d.Messages != 3 || d.Title != "Say 6 please" || d.LastText != "Say 6 please" || d.LastRole != "user" {
		t.Errorf("%+v", d)
	}
}

func TestBrokenIndexIsPutAside(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) {
			check(t, os.WriteFile(path, []byte(strings.Repeat("nonsense ", 900)), 0o600))
		},
		"torn pages": tearPages,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			var told bytes.Buffer
			h.logger = slog.New(slog.NewTextHandler(&told, nil))
			x := h.open()
			l := h.session("aaaa", "prj_1")
			for range 300 {
				l.say(session.RoleUser, "needle alpha beta gamma")
			}
			h.touchAll(x)
			check(t, x.Close())
			spoil(t, h.path())
			x = h.open()
			defer x.Close()
			// What is broken may be found at the opening, by a reader or by the writer.
			_, _, _ = x.Search(t.Context(), index.Query{Text: "needle"})
			_, _ = x.List(t.Context(), index.Page{})
			x.Touch("aaaa", "prj_1")
			settle(t, x)
			if hits := search(t, x, index.Query{Text: "needle"}); len(hits) != 3 {
				t.Fatalf("%d hits after the index was rebuilt", len(hits))
			}
			if _, err := os.Stat(h.path() + ".broken"); err != nil || !strings.Contains(told.String(), "corrupt") {
				t.Fatalf("%v; the log says %s", err, told.String())
			}
		})
	}
}

// tearPages leaves the first page as it is, so that the file looks like a database.
func tearPages(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	check(t, err)
	for i := 4096; i < len(data); i++ {
		data[i] = byte(i * 7)
	}
	check(t, os.WriteFile(path, data, 0o600))
}

func TestIndexOfAnotherVersionIsRebuilt(t *testing.T) {
	h := newHome(t)
	x := h.open()
	h.session("aaaa", "prj_1").say(session.RoleUser, "needle")
	h.touchAll(x)
	check(t, x.Close())
	db, err := sql.Open("sqlite", h.path())
	check(t, err)
	_, err = db.Exec(`PRAGMA user_version = 99`)
	check(t, err)
	check(t, db.Close())
	x = h.open()
	defer x.Close()
	if n := h.touchAll(x); n != 1 {
		t.Fatalf("%d sessions were stale", n)
	}
	if info, err := os.Stat(filepath.Join(h.dir, "index.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
}

func TestAHoleInTheEndIsSeen(t *testing.T) {
	h := newHome(t)
	l := h.session("aaaa", "prj_1")
	l.say(session.RoleUser, "alpha")
	x := h.open()
	defer x.Close()
	h.touchAll(x)
	check(t, l.Close())
	opened, err := h.provider.Open(t.Context(), "aaaa")
	check(t, err)
	check(t, opened.Append(t.Context(), []byte(`{"type":"label","id":"e9","parentId":"nowhere","timestamp":"2026-01-02T03:04:06.000Z"}`)))
	check(t, opened.Close())
	if n := h.touchAll(x); n != 1 {
		t.Fatalf("%d sessions were stale", n)
	}
	rows, err := x.List(t.Context(), index.Page{})
	check(t, err)
	if !strings.Contains(rows[0].Damage, "nowhere") {
		t.Fatalf("the damage is %q", rows[0].Damage)
	}
}
