package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// alone adapts a test that needs one archive.
func alone(test func(*testing.T, store.Archive)) func(*testing.T, func() store.Archive) {
	return func(t *testing.T, open func() store.Archive) { test(t, open()) }
}

func newInvite(t *testing.T, st store.Archive, uses int, lifetime time.Duration) store.Invite {
	t.Helper()
	code, invite, err := store.NewInvite(uses, lifetime, noon)
	if err != nil {
		t.Fatal(err)
	}
	if hash, err := store.HashInvite(code); err != nil || hash != invite.Hash {
		t.Fatalf("the code %q does not hash to its invite: %v", code, err)
	}
	if err := st.AddInvite(t.Context(), invite); err != nil {
		t.Fatal(err)
	}
	return invite
}

func expectState(t *testing.T, err error, want store.InviteState) {
	t.Helper()
	var refused *store.InviteError
	switch {
	case want == store.InviteValid && err == nil:
	case !errors.As(err, &refused) || refused.State != want:
		t.Errorf("Admit: %v, want %s", err, want)
	}
}

func admitByInvite(t *testing.T, st store.Archive) {
	first, second := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	invite := newInvite(t, st, 1, time.Hour)
	expectState(t, st.Admit(t.Context(), first, store.InviteHash{}, noon), store.InviteUnknown)
	expectState(t, st.Admit(t.Context(), first, invite.Hash, noon), store.InviteValid)
	// It is known now and no longer needs an invite.
	expectState(t, st.Admit(t.Context(), first, store.InviteHash{}, noon), store.InviteValid)
	expectState(t, st.Admit(t.Context(), second, invite.Hash, noon), store.InviteUsedUp)
	// A refused party leaves nothing behind.
	expectState(t, st.Admit(t.Context(), second, invite.Hash, noon), store.InviteUsedUp)
	// A party that was ever bound is known as well.
	bind(t, st, first, second)
	expectState(t, st.Admit(t.Context(), second, store.InviteHash{}, noon), store.InviteValid)
}

func invitesEnd(t *testing.T, st store.Archive) {
	newcomer := party(t, ident.KindDevice, "d")
	short, revoked, endless := newInvite(t, st, 5, time.Hour), newInvite(t, st, 5, 0), newInvite(t, st, 5, 0)
	expectState(t, st.Admit(t.Context(), newcomer, short.Hash, noon.Add(time.Hour)), store.InviteExpired)
	if err := st.RevokeInvite(t.Context(), revoked.ID, noon); err != nil {
		t.Fatal(err)
	}
	expectState(t, st.Admit(t.Context(), newcomer, revoked.Hash, noon), store.InviteRevoked)
	expectState(t, st.Admit(t.Context(), newcomer, endless.Hash, noon.AddDate(10, 0, 0)), store.InviteValid)
	for _, id := range []string{revoked.ID, "inv_none"} {
		if err := st.RevokeInvite(t.Context(), id, noon); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("revoking %s: %v, want ErrNotFound", id, err)
		}
	}
	revoked.Revoked = noon
	endless.Used = 1
	want := map[string]store.Invite{short.ID: short, revoked.ID: revoked, endless.ID: endless}
	got, err := st.Invites(t.Context())
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d invites, %v", len(got), err)
	}
	for _, invite := range got {
		if invite != want[invite.ID] {
			t.Errorf("got %+v, want %+v", invite, want[invite.ID])
		}
	}
}

// Concurrent new parties use no more than an invite has, and one that logs in many
// times at once uses it once.
func invitesAreCounted(t *testing.T, st store.Archive) {
	const uses, newcomers, logins = 5, 12, 3
	invite := newInvite(t, st, uses, 0)
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range newcomers {
		p := party(t, ident.KindClient, "c")
		var in atomic.Bool
		var one sync.WaitGroup
		for range logins {
			one.Go(func() {
				err := st.Admit(t.Context(), p, invite.Hash, noon)
				if err == nil {
					in.Store(true)
				} else if !errors.As(err, new(*store.InviteError)) {
					t.Errorf("Admit: %v", err)
				}
			})
		}
		all.Go(func() {
			one.Wait()
			if in.Load() {
				admitted.Add(1)
			}
		})
	}
	all.Wait()
	got, err := st.Invites(t.Context())
	if err != nil || len(got) != 1 || got[0].Used != uses || admitted.Load() != uses {
		t.Fatalf("%d were admitted, invites are %+v (%v)", admitted.Load(), got, err)
	}
}
