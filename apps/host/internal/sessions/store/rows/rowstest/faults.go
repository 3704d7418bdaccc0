package rowstest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
	"github.com/scorel/scorel/packages/testdb"
)

var errNewer = rows.ErrSchema

// mostRequests is more than any append sends to the database.
const mostRequests = 12

// testConnectionsEnd ends the connection at every request of an append, before the
// server has it and after: the append succeeds, and its line is there once.
func testConnectionsEnd(t *testing.T, d Database) {
	dsn := d.New(t)
	proxy := NewProxy(t, dsn)
	p, reader := d.Provider(t, proxy.URL), d.Provider(t, dsn)
	log := create(t, p, "s")
	var want []string
	faults := 0
	for _, fault := range []Fault{RequestLost, AnswerLost} {
		for n := 1; n <= mostRequests; n++ {
			id := fmt.Sprintf("f%d.%d", fault, n)
			proxy.Plan(fault, n)
			if err := log.Append(t.Context(), line(id+"a"), line(id+"b")); err != nil {
				t.Fatalf("fault %d at request %d: %v", fault, n, err)
			}
			if proxy.Happened() {
				faults++
			}
			want = append(want, id+"a", id+"b")
			sees(t, reader, "s", want...)
		}
	}
	if faults < 6 { // begin, change and commit at least, both ways
		t.Errorf("only %d faults happened", faults)
	}
	check(t, log.Close())
}

// testUnreachable: while the database cannot be reached an append says so and
// stores nothing; after that the session continues.
func testUnreachable(t *testing.T, d Database) {
	dsn := d.New(t)
	proxy := NewProxy(t, dsn)
	p, reader := d.Provider(t, proxy.URL), d.Provider(t, dsn)
	log := create(t, p, "s")
	proxy.SetDown(true)
	for range 2 {
		if err := log.Append(t.Context(), line("no")); err == nil || errors.Is(err, store.ErrLost) || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("adding without a database: %v", err)
		}
	}
	if _, err := p.Open(t.Context(), "t"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("opening without a database: %v", err)
	}
	proxy.SetDown(false)
	check(t, log.Append(t.Context(), line("a")))
	sees(t, reader, "s", "a")
	proxy.SetDown(true)
	check(t, log.Close()) // the lock ended with its connection
	proxy.SetDown(false)
	log, err := reader.Open(t.Context(), "s")
	check(t, err)
	check(t, log.Close())
}

// testNotKnown: a database that is gone from the moment of a commit on leaves the
// append unknown. It is said so, and the session tells when it is opened again.
func testNotKnown(t *testing.T, d Database) {
	dsn := d.New(t)
	proxy := NewProxy(t, dsn)
	p := d.Provider(t, proxy.URL)
	p.(*rows.Provider).SettleWithin(300 * time.Millisecond)
	log := create(t, p, "s")
	check(t, log.Append(t.Context(), line("a"))) // statements are known to the server after it
	lost, stored := false, 1
	for n := 1; n <= 4*mostRequests && !lost; n++ {
		proxy.Plan(ServerLost, 1+n%mostRequests)
		err := log.Append(t.Context(), line(fmt.Sprint("b", n)))
		proxy.Happened()
		proxy.SetDown(false)
		if lost = errors.Is(err, store.ErrLost); err == nil || lost {
			stored++ // without an error the fault hit something else; with this one the commit was done
		}
	}
	if !lost {
		t.Fatal("no request was a commit")
	}
	if err := log.Append(t.Context(), line("c")); !errors.Is(err, store.ErrLost) {
		t.Errorf("adding to what is not known: %v", err)
	}
	check(t, log.Close())
	log, err := p.Open(t.Context(), "s")
	check(t, err)
	if n := len(log.File().Tree.Entries()); n != stored {
		t.Errorf("%d entries, want %d", n, stored)
	}
	check(t, log.Append(t.Context(), line("d")))
	check(t, log.Close())
}

// testKilled kills the server while many sessions are written: every line that was
// acknowledged is there when it is back, none is there twice, and the sessions go
// on. An append that was under way learns what became of it.
func testKilled(t *testing.T, d Database) {
	const sessions, rounds = 4, 2
	server := testdb.Crashable(t, d.Kind)
	p := d.Provider(t, server.DSN)
	writers := make([]*writer, sessions)
	for i := range writers {
		writers[i] = &writer{id: fmt.Sprint("s", i)}
		check(t, create(t, p, writers[i].id).Close())
	}
	for round := range rounds {
		stop := make(chan struct{})
		var busy, wg sync.WaitGroup
		busy.Add(sessions)
		for _, w := range writers {
			wg.Go(func() { w.run(t, p, round, sync.OnceFunc(busy.Done), stop) })
		}
		busy.Wait() // all have something acknowledged, and continue
		server.Kill()
		server.Start()
		close(stop)
		wg.Wait()
		for _, w := range writers {
			w.compare(t, ids(t, p, w.id))
		}
	}
}

// writer writes one session.
type writer struct {
	id    string
	acked []string // lines that are there for certain
	maybe string   // one with an unknown outcome
}

// run adds lines one by one, until one fails or stop is closed. busy is called when
// some are acknowledged.
func (w *writer) run(t *testing.T, p store.Provider, round int, busy func(), stop chan struct{}) {
	const some = 15
	log, err := p.Open(t.Context(), w.id)
	for n := 0; err == nil; n++ {
		select {
		case <-stop:
			err = errStop
			continue
		default:
		}
		id := fmt.Sprintf("r%d.%d", round, n)
		switch err = log.Append(t.Context(), line(id)); {
		case err == nil:
			w.acked = append(w.acked, id)
		case errors.Is(err, store.ErrLost):
			w.maybe = id
		}
		if n == some {
			busy()
		}
		if err != nil && n <= some {
			t.Errorf("session %s after %d lines: %v", w.id, n, err)
			busy()
		}
	}
	if log != nil {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}

var errStop = errors.New("enough")

// compare holds what a reader sees against what was acknowledged.
func (w *writer) compare(t *testing.T, got []string) {
	t.Helper()
	if last := len(got) - 1; w.maybe != "" && last >= 0 && got[last] == w.maybe {
		w.acked = append(w.acked, w.maybe)
	}
	if w.maybe = ""; !slices.Equal(got, w.acked) {
		t.Errorf("session %s has\n%v\nacknowledged were\n%v", w.id, got, w.acked)
	}
}
