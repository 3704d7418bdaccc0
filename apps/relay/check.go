package relay

import (
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// auditPage is how many events are looked at. When more happened since the last
// look, all bindings are read again.
const auditPage = 256

// checkLoop keeps the grants in step with the store. Other nodes tell of their
// changes, but news can be lost, and a node that is cut off still writes.
func (c *cluster) checkLoop() {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	var seen []store.Event
	for {
		select {
		case <-ticker.C:
			if c.alone && !c.unsure.Load() && !c.blind.Load() {
				continue // nobody else writes
			}
		case <-c.check:
		case <-c.quit:
			return
		}
		seen = c.checkStore(seen)
		if c.stale.Load() && c.up.Load() {
			c.stale.Store(false)
			c.relay.refreshPresence()
		}
	}
}

// checkStore acts on what others wrote since seen and returns what to give it the
// next time. While neither the store nor the bus can tell what was revoked, no
// channel may be open.
func (c *cluster) checkStore(seen []store.Event) []store.Event {
	unsure := c.unsure.Swap(false)
	events, err := c.relay.auditPage()
	if err == nil {
		err = c.catchUp(events, seen)
	}
	if err == nil {
		if c.blind.Swap(false) {
			c.relay.log.Info("bindings can be checked again")
		}
		return events
	}
	c.relay.storeFailed(storeCheck, err)
	if unsure {
		c.unsure.Store(true)
	}
	if (unsure || !c.up.Load()) && !c.blind.Swap(true) {
		c.relay.log.Error("neither the bus nor the store can tell what was revoked; all channels close")
		c.relay.closeAllLinks()
	}
	return seen
}

func (r *Relay) auditPage() ([]store.Event, error) {
	ctx, cancel := r.storeContext()
	defer cancel()
	return r.cfg.Store.Audit(ctx, auditPage)
}

// catchUp reads the bindings again of everybody here whom a new event is about.
func (c *cluster) catchUp(events, seen []store.Event) error {
	// Not by place in the list: of two that were written at once, the one that is
	// seen later may stand behind the other.
	known := make(map[store.Event]bool, len(seen))
	for _, e := range seen {
		known[e] = true
	}
	about, everybody := make(map[ident.ID]bool), len(events) == auditPage
	for _, e := range events {
		if known[e] {
			everybody = false
		} else {
			about[e.Device], about[e.Client] = true, true
		}
	}
	var ids []ident.ID
	err := c.relay.dir.do(func() {
		for id := range c.relay.dir.parties {
			if everybody || about[id] {
				ids = append(ids, id)
			}
		}
	})
	for _, id := range ids {
		if err == nil {
			err = c.relay.reread(id)
		}
	}
	return err
}

// reread makes the bindings of id what the store says. What changes meanwhile is
// newer than the store's answer, which is then asked for again.
func (r *Relay) reread(id ident.ID) error {
	for {
		before, after := 0, 0
		version := func(at *int) func() {
			return func() {
				if p := r.dir.parties[id]; p != nil {
					*at = p.version
				}
			}
		}
		if err := r.dir.do(version(&before)); err != nil {
			return err
		}
		peers, err := r.bindings(id)
		if err != nil {
			return err
		}
		err = r.dir.do(func() {
			if version(&after)(); before == after {
				r.dir.reconcile(id, peers)
			}
		})
		if err != nil || before == after {
			return err
		}
	}
}

// closeAllLinks closes every channel. The ends may come back when it is possible.
func (r *Relay) closeAllLinks() {
	_ = r.dir.do(func() { // a stopped directory has no channel
		for _, p := range r.dir.parties {
			for _, c := range p.conns {
				for _, l := range c.links() {
					l.close(wire.ReasonPeerGone, nil)
				}
			}
		}
	})
}
