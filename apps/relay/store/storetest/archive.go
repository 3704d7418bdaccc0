package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// RunArchive tests an archive against the part of its contract that Run does not
// cover. open returns a new, empty archive each time; the suite closes it.
func RunArchive(t *testing.T, open func(t *testing.T) store.Archive) {
	for name, test := range map[string]func(*testing.T, func() store.Archive){
		"Schema":            schema,
		"RowsAndMerge":      rowsAndMerge,
		"RowsAreOneMoment":  rowsAreOneMoment,
		"RowsStop":          rowsStop,
		"MergeBindings":     mergeBindings,
		"MergeKeepsParties": mergeKeepsParties,
		"MergeIsAllOrNone":  mergeIsAllOrNone,
		"MergeHoldsLimit":   mergeHoldsLimit,
		"MergeMany":         mergeMany,
		"MergeAtOnce":       mergeAtOnce,
		"AdmitByInvite":     alone(admitByInvite),
		"InvitesEnd":        alone(invitesEnd),
		"InvitesAreCounted": alone(invitesAreCounted),
		"InvitesMove":       invitesMove,
		"MergeInvites":      mergeInvites,
		"MergeOtherInvites": mergeOtherInvites,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func() store.Archive {
				a := open(t)
				t.Cleanup(func() { closeStore(t, a) })
				return a
			})
		})
	}
}

// Of returns rows as Merge takes them.
func Of(rows ...store.Row) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// All returns every row of an archive.
func All(t *testing.T, a store.Archive) []store.Row {
	t.Helper()
	var out []store.Row
	if err := a.Rows(t.Context(), func(row store.Row) error {
		out = append(out, row)
		return nil
	}); err != nil {
		t.Fatalf("Rows: %v", err)
	}
	return out
}

func merge(t *testing.T, a store.Archive, rows ...store.Row) store.Counts {
	t.Helper()
	changed, err := a.Merge(t.Context(), Of(rows...))
	if err != nil {
		t.Fatalf("Merge: %v", err)
	}
	return changed
}

func expectRows(t *testing.T, a store.Archive, want []store.Row) {
	t.Helper()
	if got := All(t, a); !reflect.DeepEqual(got, want) {
		t.Fatalf("rows:\n got %v\nwant %v", got, want)
	}
}

func schema(t *testing.T, open func() store.Archive) {
	a := open()
	have, need, err := a.Schema(t.Context())
	if err != nil || have != need || need == 0 {
		t.Fatalf("schema %d, needs %d, %v", have, need, err)
	}
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatalf("migrating again: %v", err)
	}
}

// lived fills a store with a history: a valid, an ended and a renewed binding.
func lived(t *testing.T, st store.Store) {
	t.Helper()
	d1, d2 := party(t, ident.KindDevice, "one"), party(t, ident.KindDevice, "zwei")
	c1, c2 := party(t, ident.KindClient, "first"), party(t, ident.KindClient, "second")
	at := noon
	step := func() time.Time { at = at.Add(time.Minute); return at }
	for _, pair := range [][2]store.Party{{d1, c1}, {d1, c2}, {d2, c2}} {
		if err := st.Bind(t.Context(), pair[0], pair[1], step()); err != nil {
			t.Fatal(err)
		}
	}
	for _, client := range []store.Party{c1, c2} {
		if err := st.Revoke(t.Context(), d1.ID, client.ID, d1.ID, step()); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Bind(t.Context(), d1, c2, step()); err != nil {
		t.Fatal(err)
	}
}

func rowsAndMerge(t *testing.T, open func() store.Archive) {
	from, to := open(), open()
	lived(t, from)
	rows := All(t, from)
	want := store.Counts{Devices: 2, Clients: 2, Bindings: 3, Events: 6}
	var have store.Counts
	for _, row := range rows {
		have.Add(row, 1)
	}
	if have != want {
		t.Fatalf("rows: %+v, want %+v", have, want)
	}
	if changed := merge(t, to, rows...); changed != want {
		t.Errorf("the first merge changed %+v, want %+v", changed, want)
	}
	expectRows(t, to, rows)
	if changed := merge(t, to, rows...); changed != (store.Counts{}) {
		t.Errorf("the second merge changed %+v", changed)
	}
	expectRows(t, to, rows)
	for _, row := range rows {
		p, ok := row.(store.PartyRow)
		if !ok {
			continue
		}
		bound, err := from.Bindings(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, to, p.ID, bound...)
	}
	before, err := from.Audit(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	after, err := to.Audit(t.Context(), 10)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("audit:\n got %v, %v\nwant %v", after, err, before)
	}
	// The merged store works like any other.
	bind(t, to, party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c"))
}

// rowsAreOneMoment changes the store while its rows are read.
func rowsAreOneMoment(t *testing.T, open func() store.Archive) {
	a := open()
	lived(t, a)
	want := All(t, a)
	var got []store.Row
	if err := a.Rows(t.Context(), func(row store.Row) error {
		if len(got) == 0 {
			bind(t, a, party(t, ident.KindDevice, "late"), party(t, ident.KindClient, "late"))
		}
		got = append(got, row)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("rows:\n got %v\nwant %v", got, want)
	}
}

func rowsStop(t *testing.T, open func() store.Archive) {
	a := open()
	lived(t, a)
	stop, calls := errors.New("enough"), 0
	err := a.Rows(t.Context(), func(store.Row) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Fatalf("%v after %d rows", err, calls)
	}
}

// mergeBindings merges every pair of states in both orders.
func mergeBindings(t *testing.T, open func() store.Archive) {
	a := open()
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	for _, tc := range []struct {
		name            string
		created, again  int // minutes
		revoked, ended  int // minutes; 0 is valid
		created2, left2 int // the expected result
	}{
		{"ended is not revived", 10, 10, 0, 20, 10, 20},
		{"renewed stays", 10, 30, 20, 0, 30, 0},
		{"ended twice", 10, 10, 20, 30, 10, 30},
		{"both valid", 10, 30, 0, 0, 30, 0},
		{"on a tie the ended one wins", 10, 20, 20, 0, 10, 20},
		{"an end before the beginning", 10, 10, 0, 5, 10, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, order := range map[string][2]int{"in order": {0, 1}, "the other way": {1, 0}} {
				device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
				state := func(created, revoked int) store.BindingRow {
					row := store.BindingRow{Device: device.ID, Client: client.ID, Created: at(created)}
					if revoked != 0 {
						row.Revoked = at(revoked)
					}
					return row
				}
				states := []store.Row{state(tc.created, tc.revoked), state(tc.again, tc.ended)}
				merge(t, a, store.PartyRow{Party: device, Created: noon}, store.PartyRow{Party: client, Created: noon}, states[order[0]])
				merge(t, a, states[order[1]])
				if want := store.Row(state(tc.created2, tc.left2)); !slices.Contains(All(t, a), want) {
					t.Errorf("%s: the store lacks %v and has\n%v", name, want, All(t, a))
				}
			}
		})
	}
}

func mergeKeepsParties(t *testing.T, open func() store.Archive) {
	a := open()
	device, client := party(t, ident.KindDevice, "here"), party(t, ident.KindClient, "c")
	bind(t, a, device, client)
	there := device
	there.Label = "there"
	if changed := merge(t, a, store.PartyRow{Party: there, Created: noon.Add(time.Hour)}); changed != (store.Counts{}) {
		t.Errorf("changed %+v", changed)
	}
	expect(t, a, client.ID, device)
}

func mergeIsAllOrNone(t *testing.T, open func() store.Archive) {
	a := open()
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	broken := errors.New("the stream ends here")
	_, err := a.Merge(t.Context(), func(yield func(store.Row, error) bool) {
		_ = yield(store.PartyRow{Party: device, Created: noon}, nil) && yield(nil, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("Merge of a broken stream: %v", err)
	}
	_, err = a.Merge(t.Context(), Of(store.PartyRow{Party: device, Created: noon},
		store.BindingRow{Device: device.ID, Client: client.ID, Created: noon}))
	if err == nil {
		t.Error("a binding with an unknown client was merged")
	}
	expectRows(t, a, nil)
}

func mergeHoldsLimit(t *testing.T, open func() store.Archive) {
	a := open()
	device := party(t, ident.KindDevice, "d")
	for i := range wire.MaxBindings {
		bind(t, a, device, party(t, ident.KindClient, fmt.Sprint(i)))
	}
	before := All(t, a)
	extra := party(t, ident.KindClient, "one too many")
	_, err := a.Merge(t.Context(), Of(store.PartyRow{Party: extra, Created: noon},
		store.BindingRow{Device: device.ID, Client: extra.ID, Created: noon}))
	if !errors.Is(err, store.ErrLimit) {
		t.Fatalf("Merge over the limit: %v", err)
	}
	expectRows(t, a, before)
}

// mergeMany merges more rows than are sent to a database at once.
func mergeMany(t *testing.T, open func() store.Archive) {
	const n = 1200
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	rows := []store.Row{store.PartyRow{Party: device, Created: noon}, store.PartyRow{Party: client, Created: noon}}
	for i := range n {
		rows = append(rows, store.Event{
			At: noon.Add(time.Duration(i) * time.Second), Action: store.ActionBound, Device: device.ID, Client: client.ID,
		})
	}
	a := open()
	if changed := merge(t, a, rows...); changed != (store.Counts{Devices: 1, Clients: 1, Events: n}) {
		t.Fatalf("changed %+v", changed)
	}
	if got := len(All(t, a)); got != n+2 {
		t.Fatalf("%d rows", got)
	}
}

// mergeAtOnce merges the same rows from several goroutines: each row counts for one
// of them.
func mergeAtOnce(t *testing.T, open func() store.Archive) {
	from, to := open(), open()
	lived(t, from)
	rows := All(t, from)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total int64
	)
	for range 4 {
		wg.Go(func() {
			changed, err := to.Merge(context.WithoutCancel(t.Context()), Of(rows...))
			if err != nil {
				t.Errorf("Merge: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += changed.Devices + changed.Clients + changed.Bindings + changed.Events
		})
	}
	wg.Wait()
	if total != int64(len(rows)) {
		t.Errorf("%d rows changed something, want %d", total, len(rows))
	}
	expectRows(t, to, rows)
}
