package sessions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/mysql"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/testdb"
)

// opener opens one provider, each time over the same sessions.
type opener func(t *testing.T) store.Provider

// openers makes an empty place of every kind.
func (f *fixture) openers() map[string]func(t *testing.T) opener {
	return map[string]func(t *testing.T) opener{
		"file": func(t *testing.T) opener {
			dir := t.TempDir()
			return func(*testing.T) store.Provider { return file.New(dir, f.deps.Logger) }
		},
		"postgres": func(t *testing.T) opener {
			dsn := testdb.Postgres(t)
			return func(t *testing.T) store.Provider {
				p, err := postgres.Open(t.Context(), dsn, f.deps.Logger)
				check(t, err)
				return p
			}
		},
		"mysql": func(t *testing.T) opener {
			dsn := testdb.MariaDB(t)
			return func(t *testing.T) store.Provider {
				p, err := mysql.Open(t.Context(), dsn, f.deps.Logger)
				check(t, err)
				return p
			}
		},
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// host runs the fixture's sessions on providers, of which the first gets the new ones.
func (f *fixture) host(t *testing.T, first store.Provider, more ...store.Provider) *sessions.Manager {
	t.Helper()
	named := map[string]store.Provider{"here": first}
	if len(more) > 0 {
		named["there"] = more[0]
	}
	m, err := sessions.NewManager(t.Context(), places.New(named, func(string) string { return "here" }, f.deps.Logger), f.deps)
	check(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// family makes a session with a child, and a child of that.
func (f *fixture) family(t *testing.T, m *sessions.Manager) (ids []string) {
	t.Helper()
	s := f.create(t, m)
	ids = append(ids, s.ID())
	for _, key := range []string{"child", "grandchild"} {
		child, err := m.CreateChild(t.Context(), s, sessions.ChildSpec{
			Key: key, Model: "main", Record: session.ChildRecord{ParentSessionID: s.ID(), Title: key},
		})
		check(t, err)
		s, ids = child, append(ids, child.ID())
	}
	return ids
}

// holds says which sessions a provider has.
func holds(t *testing.T, p store.Provider, want ...string) {
	t.Helper()
	list, err := p.List(t.Context())
	check(t, err)
	got := make([]string, 0, len(list))
	for _, info := range list {
		got = append(got, info.Header.ID)
	}
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Errorf("%d sessions are there, want %d: %v", len(got), len(want), got)
	}
}

// TestCopyTakesTheChildrenAlong copies and moves a session with those that its agent had
// made from every kind of provider to every other, and deletes the copy and the original.
func TestCopyTakesTheChildrenAlong(t *testing.T) {
	for _, way := range [][2]string{{"file", "postgres"}, {"postgres", "mysql"}, {"mysql", "file"}} {
		t.Run(way[0]+" to "+way[1], func(t *testing.T) {
			f := newFixture(t, modeltest.New(modeltest.Say("one"), modeltest.Say("two")))
			here, there := f.openers()[way[0]](t), f.openers()[way[1]](t)
			first, second := here(t), there(t)
			m := f.host(t, first, second)
			ids := f.family(t, m)
			single := f.alone(t, m)
			for range 2 { // again changes nothing
				check(t, m.Copy(t.Context(), ids[0], "there", false))
			}
			holds(t, first, append(ids, single)...)
			holds(t, second, ids...)

			// Another host has the copy only. Its children belong to it there, and go with it.
			other := f.host(t, there(t))
			if list := other.List(""); len(list) != 3 || list[0].ParentSessionID != "" && list[1].ParentSessionID != "" && list[2].ParentSessionID != "" {
				t.Errorf("the other host has %+v", list)
			}
			if page, err := other.Page(api.ListSessionsRequest{}, nil); err != nil || len(page.Sessions) != 1 || page.Sessions[0].ID != ids[0] {
				t.Errorf("it lists %+v, %v", page, err)
			}
			check(t, deleted(other.Delete(t.Context(), ids[0])))
			check(t, other.Close())
			holds(t, second)
			holds(t, first, append(ids, single)...)

			// An interrupted move continues where it stopped.
			check(t, m.Copy(t.Context(), ids[2], "there", true))
			check(t, m.Copy(t.Context(), ids[0], "there", true))
			holds(t, first, single)
			holds(t, second, ids...)
			s, w := open(t, m, ids[1]), newWatcher()
			subscribe(t, s, w)
			send(t, s, "k", "go on")
			w.wait(func() bool { return w.ended == 1 })

			check(t, m.Copy(t.Context(), ids[0], "here", false))
			check(t, deleted(m.Delete(t.Context(), ids[0])))
			holds(t, first, single)
			holds(t, second)
		})
	}
}

// alone makes a session that has nothing to do with the others.
func (f *fixture) alone(t *testing.T, m *sessions.Manager) string {
	t.Helper()
	summary, err := m.Create(t.Context(), f.project, "cli_1", api.CreateSessionRequest{ClientKey: "alone", Model: "main"})
	check(t, err)
	return summary.ID
}

// TestAWorkingChildStaysWithItsParent: neither is moved, and who reads it knows why.
func TestAWorkingChildStaysWithItsParent(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Step{Stall: true}))
	first, second := file.New(f.dir, f.deps.Logger), file.New(t.TempDir(), f.deps.Logger)
	m := f.host(t, first, second)
	ids := f.family(t, m)
	send(t, open(t, m, ids[1]), "k", "hi")
	for what, err := range map[string]error{
		"moving": m.Copy(t.Context(), ids[0], "there", true), "deleting": deleted(m.Delete(t.Context(), ids[0])),
	} {
		if kindOf(err) != api.KindConflict || !strings.Contains(err.Error(), "its subagent's session "+ids[1]+": the session is busy") {
			t.Errorf("%s: %v", what, err)
		}
	}
	holds(t, first, ids...)
	holds(t, second)
}

// TestSessionsThatBelongToEachOther: only files from elsewhere say that, and none of them
// takes the other along.
func TestSessionsThatBelongToEachOther(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	for id, of := range map[string]string{"a": "b", "b": "c", "c": "b", "self": "self"} {
		text := `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/","childOf":"` + of + `"}` + "\n"
		_, err := m.Import(t.Context(), f.project.ID, id, []byte(text))
		check(t, err)
	}
	for left, id := range []string{"self", "b", "c", "a"} {
		check(t, deleted(m.Delete(t.Context(), id)))
		if n := len(m.List("")); n != 3-left {
			t.Errorf("%d sessions are left after %s", n, id)
		}
	}
}
