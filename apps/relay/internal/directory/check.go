package directory

import (
	"errors"

	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// auditPage is how many events a check reads. If more happened since the last check, all
// bindings are read again.
const auditPage = 256

// CheckBindings reads from the store what has changed since the last call and
// applies it. Only one goroutine may call it.
func (d *Directory) CheckBindings() error {
	events, err := d.Store.events(auditPage)
	if err == nil {
		err = d.catchUp(events)
	}
	if err != nil {
		d.Store.Failed(metrics.StoreCheck, err)
		return err
	}
	d.seen = events
	return nil
}

// catchUp reads the bindings again of all connected parties that new events are about.
func (d *Directory) catchUp(events []store.Event) error {
	// Not by position in the list: of two events written at the same time, the one
	// seen later may come before the other.
	known := make(map[store.Event]bool, len(d.seen))
	for _, e := range d.seen {
		known[e] = true
	}
	changed, all := make(map[ident.ID]bool), len(events) == auditPage
	for _, e := range events {
		if known[e] {
			all = false
		} else {
			changed[e.Device], changed[e.Client] = true, true
		}
	}
	var ids []ident.ID
	err := d.Loop.Do(func() {
		for id := range d.parties {
			if all || changed[id] || d.doubted[id] {
				ids = append(ids, id)
			}
		}
		clear(d.doubted)
	})
	for _, id := range ids {
		if err == nil {
			err = d.reread(id)
		}
	}
	if err != nil {
		_ = d.Loop.Do(func() { d.doubt(ids...) }) // the next check has seen the events
	}
	return err
}

// doubt schedules reading the bindings of parties again at the next check. In the
// loop.
func (d *Directory) doubt(ids ...ident.ID) {
	for _, id := range ids {
		d.doubted[id] = true
	}
}

// Recheck reads the bindings of both sides of a new binding again. One of them may
// have ended it after the store wrote it and before the directory was notified,
// which would leave the directory with a binding that the store no longer has.
func (d *Directory) Recheck(ids ...ident.ID) {
	for _, id := range ids {
		if err := d.reread(id); err != nil && !errors.Is(err, loop.ErrStopped) {
			d.Store.Failed(metrics.StoreCheck, err)
		}
	}
}

// reread replaces the bindings of a party by those of the store. A change in the
// meantime is newer than the store's answer, so the store is read again.
func (d *Directory) reread(id ident.ID) error {
	for {
		before, after := 0, 0
		version := func(at *int) func() {
			return func() {
				if p := d.parties[id]; p != nil {
					*at = p.version
				}
			}
		}
		if err := d.Loop.Do(version(&before)); err != nil {
			return err
		}
		peers, err := d.Store.bindings(id)
		if err != nil {
			return err
		}
		err = d.Loop.Do(func() {
			if version(&after)(); before == after {
				d.reconcile(id, peers)
			}
		})
		if err != nil || before == after {
			return err
		}
	}
}
