// Package storetest tests the contract of store.Store.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Run tests a store against its contract. open returns an empty store, and reopen
// opens the same store again; the suite closes both.
func Run(t *testing.T, open func(t *testing.T) (st store.Store, reopen func() store.Store)) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"BindingsOfBothSides": bindingsOfBothSides,
		"Strangers":           strangers,
		"Revoke":              revoke,
		"BindAgain":           bindAgain,
		"Relabel":             relabel,
		"Party":               knownParty,
		"Claim":               claim,
		"ClaimAfterRevoke":    claimAfterRevoke,
		"ClaimLimit":          claimLimit,
		"ConcurrentClaims":    concurrentClaims,
		"Limit":               limit,
		"Audit":               audit,
		"Concurrent":          concurrent,
		"ConcurrentSame":      concurrentSame,
		"ConcurrentLimit":     concurrentLimit,
		"CancelledContext":    cancelledContext,
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := open(t)
			defer closeStore(t, st)
			test(t, st)
		})
	}
	t.Run("Reopen", func(t *testing.T) {
		st, reopen := open(t)
		device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
		bind(t, st, device, client)
		closeStore(t, st)
		again := reopen()
		defer closeStore(t, again)
		expect(t, again, device.ID, client)
	})
	t.Run("Closed", func(t *testing.T) {
		st, _ := open(t)
		closeStore(t, st)
		if st.Check(t.Context()) == nil {
			t.Error("a closed store says that it can answer")
		}
		if _, err := st.Bindings(t.Context(), party(t, ident.KindDevice, "d").ID); err == nil {
			t.Error("a closed store answers")
		}
	})
}

func closeStore(t *testing.T, st store.Store) {
	if err := st.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func party(t *testing.T, kind ident.Kind, label string) store.Party {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return store.Party{ID: keys.ID(), Public: keys.Public(), Label: label}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123_456_000, time.UTC)

func bind(t *testing.T, st store.Store, device, client store.Party) {
	t.Helper()
	if err := st.Bind(t.Context(), device, client, noon); err != nil {
		t.Fatalf("Bind: %v", err)
	}
}

func expect(t *testing.T, st store.Store, id ident.ID, want ...store.Party) {
	t.Helper()
	got, err := st.Bindings(t.Context(), id)
	for _, list := range [][]store.Party{got, want} {
		slices.SortFunc(list, func(a, b store.Party) int { return a.ID.Compare(b.ID) })
	}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Bindings of %s:\n got %v, %v\nwant %v", id, got, err, want)
	}
}

func bindingsOfBothSides(t *testing.T, st store.Store) {
	d1, d2 := party(t, ident.KindDevice, "one"), party(t, ident.KindDevice, `quote ' and "`)
	c1, c2 := party(t, ident.KindClient, "first"), party(t, ident.KindClient, "zwölf 十二")
	bind(t, st, d1, c1)
	bind(t, st, d1, c2)
	bind(t, st, d2, c1)
	expect(t, st, d1.ID, c1, c2)
	expect(t, st, d2.ID, c1)
	expect(t, st, c1.ID, d1, d2)
	expect(t, st, c2.ID, d1)
	if err := st.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func strangers(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	expect(t, st, device.ID)
	if err := st.Relabel(t.Context(), device.ID, "new"); err != nil {
		t.Errorf("Relabel of an unknown device: %v", err)
	}
	if err := st.Revoke(t.Context(), device.ID, client.ID, client.ID, noon); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Revoke of nothing: %v", err)
	}
	if events, err := st.Audit(t.Context(), 10); err != nil || len(events) != 0 {
		t.Errorf("Audit: %v, %v", events, err)
	}
}

func revoke(t *testing.T, st store.Store) {
	device, client, other := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c"), party(t, ident.KindClient, "o")
	bind(t, st, device, client)
	bind(t, st, device, other)
	if err := st.Revoke(t.Context(), device.ID, client.ID, client.ID, noon); err != nil {
		t.Fatalf("Revoke: %v", err)
	}
	expect(t, st, device.ID, other)
	expect(t, st, client.ID)
	if err := st.Revoke(t.Context(), device.ID, client.ID, client.ID, noon); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Revoke again: %v", err)
	}
	bind(t, st, device, client)
	expect(t, st, device.ID, client, other)
}

func bindAgain(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	bind(t, st, device, client)
	device.Label, client.Label = "d two", "c two"
	bind(t, st, device, client)
	expect(t, st, device.ID, client)
	expect(t, st, client.ID, device)
}

func relabel(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	bind(t, st, device, client)
	for _, p := range []*store.Party{&device, &client} {
		p.Label = "renamed " + p.Label
		if err := st.Relabel(t.Context(), p.ID, p.Label); err != nil {
			t.Fatalf("Relabel: %v", err)
		}
	}
	expect(t, st, device.ID, client)
	expect(t, st, client.ID, device)
}

func limit(t *testing.T, st store.Store) {
	device := party(t, ident.KindDevice, "d")
	var last store.Party
	for i := range wire.MaxBindings {
		last = party(t, ident.KindClient, fmt.Sprint(i))
		bind(t, st, device, last)
	}
	extra := party(t, ident.KindClient, "one too many")
	if err := st.Bind(t.Context(), device, extra, noon); !errors.Is(err, store.ErrLimit) {
		t.Fatalf("Bind over the limit: %v", err)
	}
	expect(t, st, extra.ID)
	bind(t, st, device, last) // renewing needs no room
	if err := st.Revoke(t.Context(), device.ID, last.ID, device.ID, noon); err != nil {
		t.Fatal(err)
	}
	bind(t, st, device, extra)
}

func audit(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	bind(t, st, device, client)
	earlier := noon.Add(-time.Hour) // by a node with a wrong clock
	if err := st.Revoke(t.Context(), device.ID, client.ID, device.ID, earlier); err != nil {
		t.Fatal(err)
	}
	want := []store.Event{
		{At: earlier, Action: store.ActionRevoked, Device: device.ID, Client: client.ID, Actor: device.ID},
		{At: noon, Action: store.ActionBound, Device: device.ID, Client: client.ID},
	}
	got, err := st.Audit(t.Context(), 10)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Audit:\n got %v, %v\nwant %v", got, err, want)
	}
	if got, err = st.Audit(t.Context(), 1); err != nil || !slices.Equal(got, want[:1]) {
		t.Fatalf("Audit of 1: %v, %v", got, err)
	}
}

// concurrent binds and revokes from many goroutines: transactions that read and
// then write must not make each other fail.
func concurrent(t *testing.T, st store.Store) {
	device := party(t, ident.KindDevice, "d")
	var wg sync.WaitGroup
	for range 8 {
		client := party(t, ident.KindClient, "c")
		wg.Go(func() {
			for range 10 {
				if err := st.Bind(t.Context(), device, client, noon); err != nil {
					t.Errorf("Bind: %v", err)
				}
				if err := st.Revoke(t.Context(), device.ID, client.ID, client.ID, noon); err != nil {
					t.Errorf("Revoke: %v", err)
				}
			}
		})
	}
	wg.Wait()
	expect(t, st, device.ID)
}

// concurrentSame binds one new pair from many goroutines: all write the same rows
// and none may fail.
func concurrentSame(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := st.Bind(t.Context(), device, client, noon); err != nil {
				t.Errorf("Bind: %v", err)
			}
		})
	}
	wg.Wait()
	expect(t, st, device.ID, client)
}

// concurrentLimit fills a device up except for one, and then lets many compete for
// the last place.
func concurrentLimit(t *testing.T, st store.Store) {
	device := party(t, ident.KindDevice, "d")
	for i := range wire.MaxBindings - 1 {
		bind(t, st, device, party(t, ident.KindClient, fmt.Sprint(i)))
	}
	var (
		wg    sync.WaitGroup
		bound atomic.Int32
	)
	for range 8 {
		client := party(t, ident.KindClient, "c")
		wg.Go(func() {
			switch err := st.Bind(t.Context(), device, client, noon); {
			case err == nil:
				bound.Add(1)
			case !errors.Is(err, store.ErrLimit):
				t.Errorf("Bind: %v", err)
			}
		})
	}
	wg.Wait()
	if n := bound.Load(); n != 1 {
		t.Errorf("%d took the last place", n)
	}
}

func cancelledContext(t *testing.T, st store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	if err := st.Bind(ctx, device, client, noon); err == nil {
		t.Error("Bind continued after its context ended")
	}
	expect(t, st, device.ID)
}
