package sessions_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// reading counts how often sessions are read.
type reading struct {
	*file.Provider
	reads atomic.Int32
}

func (r *reading) Read(ctx context.Context, id string) (*session.File, error) {
	r.reads.Add(1)
	return r.Provider.Read(ctx, id)
}

func (r *reading) Tail(ctx context.Context, id, mark string) (store.Tail, error) {
	r.reads.Add(1)
	return r.Provider.Tail(ctx, id, mark)
}

// indexed opens the sessions of a fixture with an index.
func (f *fixture) indexed(t *testing.T) (*sessions.Manager, *reading) {
	t.Helper()
	provider := &reading{Provider: file.New(f.dir, f.deps.Logger)}
	found, err := index.Open(t.Context(), filepath.Join(f.dir, "index.db"), provider, f.deps.Logger)
	if err != nil {
		t.Fatal(err)
	}
	deps := f.deps
	deps.Index = found
	m, err := sessions.NewManager(t.Context(), provider, deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, provider
}

func find(t *testing.T, m *sessions.Manager, query string) []api.SearchHit {
	t.Helper()
	response, err := m.Search(t.Context(), api.SearchSessionsRequest{Query: query}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return response.Hits
}

func TestWarmStartReadsNoSession(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Say("the lamp is lit"), modeltest.Say("again")))
	m, _ := f.indexed(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "light it")
	w.wait(func() bool { return w.ended == 1 })
	hits := find(t, m, "lamp")
	if len(hits) != 1 || hits[0].Name != "light it" || hits[0].Role != "assistant" || hits[0].ProjectID != "prj_1" {
		t.Fatalf("%+v", hits)
	}
	if entry := read(w, func() session.Entry { return w.entries[2] }); entry.ID != hits[0].EntryID || entry.Seq != hits[0].Seq {
		t.Fatalf("the hit leads to %s, seq %d, and not to %s, seq %d", hits[0].EntryID, hits[0].Seq, entry.ID, entry.Seq)
	}
	before := m.List("")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, provider := f.indexed(t)
	if after := m.List(""); len(after) != 1 || !reflect.DeepEqual(after, before) {
		t.Fatalf("%+v, and before %+v", after, before)
	}
	if find(t, m, "lamp"); provider.reads.Load() != 0 {
		t.Fatalf("sessions were read %d times", provider.reads.Load())
	}
	// The clientKey that made it is still known.
	again, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: "key-" + t.Name()})
	if err != nil || again.ID != before[0].ID {
		t.Fatalf("%+v %v", again, err)
	}
}

func TestWorkThatWaitsIsFoundInTheIndex(t *testing.T) {
	stall := modeltest.Step{Content: session.Content{session.Text("part")}, Stall: true}
	f := newFixture(t, modeltest.New(stall, modeltest.Say("one"), modeltest.Say("two")))
	m, _ := f.indexed(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "first")
	w.wait(func() bool { return len(w.live.Partial) > 0 }) // the first step is the first prompt's
	send(t, s, "k2", "second")
	if err := m.Close(); err != nil { // the turn is cut, and the second prompt waits
		t.Fatal(err)
	}
	done := make(chan struct{})
	all := sync.OnceFunc(func() { close(done) })
	f.deps.OnSummary = func(summary api.SessionSummary) {
		if summary.MessageCount == 4 {
			all()
		}
	}
	f.indexed(t) // the session is not opened here
	<-done
}

func TestSearchInOneSession(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Say("the lamp is lit")))
	m, _ := f.indexed(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "light the lamp")
	w.wait(func() bool { return w.ended == 1 })
	response, err := m.Search(t.Context(), api.SearchSessionsRequest{Query: "lit", SessionID: s.ID()}, nil)
	if err != nil || len(response.Hits) != 1 || response.Total != 1 {
		t.Errorf("%+v, %v", response, err)
	}
	refused := new(api.Error)
	if _, err := m.Search(t.Context(), api.SearchSessionsRequest{Query: "lit", SessionID: "another"}, nil); !errors.As(err, &refused) || refused.Kind != api.KindNotFound {
		t.Errorf("a session that does not exist: %v", err)
	}
}

func TestSearchWithoutAnIndex(t *testing.T) {
	f := newFixture(t, modeltest.New())
	_, err := f.manager(t).Search(t.Context(), api.SearchSessionsRequest{Query: "lamp"}, nil)
	if told, ok := err.(*api.Error); !ok || told.Kind != api.KindUnavailable {
		t.Fatalf("%v", err)
	}
}
