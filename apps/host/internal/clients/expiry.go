package clients

import (
	"context"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// lookEvery bounds how long Expire waits at once. Timers stand still while a machine sleeps,
// and clocks are set: access ends within a second of its time nevertheless.
const lookEvery = time.Second

// Expire ends the connections and terminals of clients whose access expires, and guest links,
// until ctx ends.
func (c *Clients) Expire(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for last := time.Now(); ; {
		now := time.Now()
		next, waits := c.endExpired(last, now)
		last = now
		for _, id := range c.removedGuests() {
			asking.Go(func() { c.relay.Revoke(ctx, id) })
		}
		if !c.await(ctx, next, waits) {
			return
		}
	}
}

// await waits until a time, if there is one, or until it is worth looking again; false when
// ctx has ended.
func (c *Clients) await(ctx context.Context, next time.Time, waits bool) bool {
	var due <-chan time.Time
	if waits {
		timer := time.NewTimer(min(lookEvery, time.Until(next)))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-c.expires:
	case <-ctx.Done():
		return false
	}
	return true
}

// endExpired ends the access of clients that expired after last, and returns when the next
// one expires; false if none will.
func (c *Clients) endExpired(last, now time.Time) (next time.Time, waits bool) {
	for _, client := range c.list.List() {
		at := time.UnixMilli(client.ExpiresAt)
		switch {
		case client.ExpiresAt == 0:
		case client.SessionID != "" && client.Expired(now): // its time cannot be extended
			c.log.Info("a guest link expired", "client", client.ID)
			c.relay.CloseClient(client.ID, wire.ReasonExpired)
			c.endGuest(client.ID)
		case !client.Expired(now):
			if !waits || at.Before(next) {
				next, waits = at, true
			}
		case at.After(last) || c.hub.Online(client.ID.String()):
			c.log.Info("the access of a client expired", "client", client.ID)
			c.relay.CloseClient(client.ID, wire.ReasonExpired)
			c.hub.EndClient(client.ID.String(), dispatch.ErrAccessExpired)
			c.changed(client.ID.String())
			c.hub.Notify(api.ClientsChanged{})
		}
	}
	return next, waits
}
