package storetest

import (
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

func knownParty(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	bind(t, st, device, client)
	for _, want := range []store.Party{device, client} {
		if got, err := st.Party(t.Context(), want.ID); err != nil || got != want {
			t.Errorf("Party: got %v, %v, want %v", got, err, want)
		}
	}
	if _, err := st.Party(t.Context(), party(t, ident.KindDevice, "x").ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown party: %v", err)
	}
}

// claims claims a binding that was signed at a time, and checks what Claim reports.
func claims(t *testing.T, st store.Store, device, client store.Party, signed time.Time, wrote bool, want error) {
	t.Helper()
	got, err := st.Claim(t.Context(), device, client, signed, noon)
	if got != wrote || !errors.Is(err, want) {
		t.Fatalf("Claim signed at %s: %v, %v, want %v, %v", signed, got, err, wrote, want)
	}
}

func claim(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	claims(t, st, device, client, noon.Add(-time.Hour), true, nil)
	expect(t, st, device.ID, client)
	expect(t, st, client.ID, device)
	claims(t, st, device, client, noon, false, nil) // it exists
	paired := party(t, ident.KindClient, "p")
	bind(t, st, device, paired)
	claims(t, st, device, paired, noon, false, nil)
	want := []store.Event{
		{At: noon, Action: store.ActionBound, Device: device.ID, Client: paired.ID},
		{At: noon, Action: store.ActionBound, Device: device.ID, Client: client.ID, Actor: client.ID},
	}
	if got, err := st.Audit(t.Context(), 10); err != nil || !slices.Equal(got, want) {
		t.Fatalf("Audit:\n got %v, %v\nwant %v", got, err, want)
	}
}

// claimAfterRevoke: only a signature that is newer than the revocation brings a binding
// back, and a pairing does not make an older one valid again.
func claimAfterRevoke(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	revoke := func(at time.Time) {
		t.Helper()
		if err := st.Revoke(t.Context(), device.ID, client.ID, device.ID, at); err != nil {
			t.Fatal(err)
		}
	}
	bind(t, st, device, client)
	revoke(noon)
	for _, signed := range []time.Time{noon.Add(-time.Hour), noon.Add(-time.Microsecond), noon} {
		claims(t, st, device, client, signed, false, store.ErrRevoked)
	}
	expect(t, st, device.ID)
	claims(t, st, device, client, noon.Add(time.Millisecond), true, nil)
	expect(t, st, device.ID, client)
	revoke(noon.Add(time.Hour))
	claims(t, st, device, client, noon.Add(time.Millisecond), false, store.ErrRevoked)
	bind(t, st, device, client)
	revoke(noon.Add(2 * time.Hour))
	claims(t, st, device, client, noon.Add(time.Hour+time.Millisecond), false, store.ErrRevoked)
	events, err := st.Audit(t.Context(), 100)
	if err != nil || len(events) != 6 {
		t.Fatalf("refused claims are in the audit: %v, %v", events, err)
	}
}

func claimLimit(t *testing.T, st store.Store) {
	device := party(t, ident.KindDevice, "d")
	for i := range wire.MaxBindings {
		bind(t, st, device, party(t, ident.KindClient, fmt.Sprint(i)))
	}
	extra := party(t, ident.KindClient, "one too many")
	claims(t, st, device, extra, noon, false, store.ErrLimit)
	expect(t, st, extra.ID)
}

// concurrentClaims claims one binding many times while it is revoked: it is written once
// for each time that it did not exist, and a revocation is never undone by an older claim.
func concurrentClaims(t *testing.T, st store.Store) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	var (
		wg    sync.WaitGroup
		wrote atomic.Int32
	)
	for range 8 {
		wg.Go(func() {
			switch made, err := st.Claim(t.Context(), device, client, noon, noon); {
			case made:
				wrote.Add(1)
			case err != nil && !errors.Is(err, store.ErrRevoked):
				t.Errorf("Claim: %v", err)
			}
		})
	}
	wg.Go(func() {
		err := st.Revoke(t.Context(), device.ID, client.ID, device.ID, noon.Add(time.Hour))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Revoke: %v", err)
		}
	})
	wg.Wait()
	if n := wrote.Load(); n != 1 {
		t.Errorf("the binding was written %d times", n)
	}
}
