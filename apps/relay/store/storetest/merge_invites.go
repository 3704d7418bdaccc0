package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// invitesMove tests that admission continues after a move to another store.
func invitesMove(t *testing.T, open func() store.Archive) {
	from, to := open(), open()
	twice, gone := newInvite(t, from, 2, time.Hour), newInvite(t, from, 2, 0)
	first := party(t, ident.KindDevice, "first")
	expectState(t, from.Admit(t.Context(), first, twice.Hash, noon), store.InviteValid)
	if err := from.RevokeInvite(t.Context(), gone.ID, noon); err != nil {
		t.Fatal(err)
	}
	rows := All(t, from)
	if changed := merge(t, to, rows...); changed != (store.Counts{Devices: 1, Invites: 2}) {
		t.Errorf("the first merge changed %+v", changed)
	}
	if changed := merge(t, to, rows...); changed != (store.Counts{}) {
		t.Errorf("the second merge changed %+v", changed)
	}
	expectRows(t, to, rows)
	expectState(t, to.Admit(t.Context(), first, store.InviteHash{}, noon), store.InviteValid)
	expectState(t, to.Admit(t.Context(), party(t, ident.KindClient, "c"), gone.Hash, noon), store.InviteRevoked)
	expectState(t, to.Admit(t.Context(), party(t, ident.KindClient, "c"), twice.Hash, noon), store.InviteValid)
	expectState(t, to.Admit(t.Context(), party(t, ident.KindClient, "c"), twice.Hash, noon), store.InviteUsedUp)
}

// mergeInvites merges states of one invite in both orders.
func mergeInvites(t *testing.T, open func() store.Archive) {
	a := open()
	at := func(minute int) time.Time {
		if minute == 0 {
			return time.Time{}
		}
		return noon.Add(time.Duration(minute) * time.Minute)
	}
	for _, tc := range []struct {
		name           string
		used, used2    int
		ended, ended2  int // minutes; 0 is valid
		usedAt, endsAt int // the expected result
	}{
		{"the same", 1, 1, 0, 0, 1, 0},
		{"the greater number of uses", 1, 3, 0, 0, 3, 0},
		{"revoked stays revoked", 1, 1, 5, 0, 1, 5},
		{"the earlier end", 0, 0, 5, 9, 0, 5},
		{"each has a newer field", 3, 1, 0, 5, 3, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, order := range map[string][2]int{"in order": {0, 1}, "the other way": {1, 0}} {
				_, invite, err := store.NewInvite(3, 0, noon)
				if err != nil {
					t.Fatal(err)
				}
				state := func(used, ended int) store.Invite {
					s := invite
					s.Used, s.Revoked = used, at(ended)
					return s
				}
				states := []store.Row{state(tc.used, tc.ended), state(tc.used2, tc.ended2)}
				merge(t, a, states[order[0]])
				merge(t, a, states[order[1]])
				if want := store.Row(state(tc.usedAt, tc.endsAt)); !slices.Contains(All(t, a), want) {
					t.Errorf("%s: the store lacks %v and has\n%v", name, want, All(t, a))
				}
			}
		})
	}
}

// mergeOtherInvites tests that an invite is never changed into another one, and
// that the error names it.
func mergeOtherInvites(t *testing.T, open func() store.Archive) {
	a := open()
	mine := newInvite(t, a, 2, time.Hour)
	_, other, err := store.NewInvite(2, time.Hour, noon)
	if err != nil {
		t.Fatal(err)
	}
	before := All(t, a)
	for name, change := range map[string]func(*store.Invite){
		"another code":   func(i *store.Invite) { i.Hash = other.Hash },
		"another id":     func(i *store.Invite) { i.ID = other.ID },
		"more uses":      func(i *store.Invite) { i.Uses++ },
		"a later expiry": func(i *store.Invite) { i.Expires = i.Expires.Add(time.Hour) },
		"no expiry":      func(i *store.Invite) { i.Expires = time.Time{} },
		"made later":     func(i *store.Invite) { i.Created = i.Created.Add(time.Hour) },
	} {
		forged := mine
		change(&forged)
		changed, err := a.Merge(t.Context(), Of(store.PartyRow{Party: party(t, ident.KindDevice, "d"), Created: noon}, forged))
		if !errors.Is(err, store.ErrConflict) || changed != (store.Counts{}) {
			t.Errorf("%s: %+v, %v", name, changed, err)
		}
		expectRows(t, a, before)
	}
}
