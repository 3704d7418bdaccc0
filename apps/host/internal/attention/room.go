package attention

import (
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
)

// loop is what Run owns.
type loop struct {
	*Attention
	rooms   map[string]*room
	sending map[string]bool // subscriptions to which something is being sent
	results chan sent
	// unstored are deliveries that have ended while the disk was full, to be stored at storeAt.
	unstored []sent
	storeAt  time.Time
	running  sync.WaitGroup
}

// room is what needs a person in a session that people see, with its subagents.
type room struct {
	open []sessions.Notice // approvals and questions, oldest first
	once *sessions.Notice  // how the last turn ended; nil after people were notified
	due  time.Time         // when to notify; zero is never
}

func (l *loop) room(rootID string) *room {
	r := l.rooms[rootID]
	if r == nil {
		r = &room{}
		l.rooms[rootID] = r
	}
	return r
}

// soon has a room evaluated after some time, or earlier if that was planned.
func (r *room) soon(after time.Duration) {
	at := time.Now().Add(after)
	if r.due.IsZero() || at.Before(r.due) {
		r.due = at
	}
}

func (l *loop) needs(n sessions.Notice) {
	r := l.room(n.RootID)
	if n.Kind.Waits() {
		r.open = append(slices.DeleteFunc(r.open, func(have sessions.Notice) bool { return have.ID == n.ID }), n)
	} else {
		r.once = &n
	}
	r.soon(l.Burst)
}

func (l *loop) done(rootID, id string) {
	r := l.room(rootID)
	r.open = slices.DeleteFunc(r.open, func(have sessions.Notice) bool { return have.ID == id })
	r.soon(0)
}

// looked plans to look again at what waits.
func (l *loop) looked() {
	for _, r := range l.rooms {
		if len(r.open) > 0 {
			r.soon(leaving)
		}
	}
}

// next returns when something is to be done; the zero time if nothing is.
func (l *loop) next() time.Time {
	at := l.nextDelivery()
	if len(l.unstored) > 0 && (at.IsZero() || l.storeAt.Before(at)) {
		at = l.storeAt
	}
	for _, r := range l.rooms {
		if !r.due.IsZero() && (at.IsZero() || r.due.Before(at)) {
			at = r.due
		}
	}
	return at
}

// evaluate notifies people of the rooms that are due.
func (l *loop) evaluate(now time.Time) {
	for rootID, r := range l.rooms {
		if r.due.IsZero() || now.Before(r.due) {
			continue
		}
		r.due = time.Time{}
		if err := l.store.change(func(f *file) error { l.notify(f, rootID, r, now); return nil }); err != nil {
			l.Logger.Error("storing notifications", "session", rootID, "error", err)
			r.soon(leaving)
			continue
		}
		r.once = nil
		if len(r.open) == 0 && r.due.IsZero() {
			delete(l.rooms, rootID)
		}
	}
}

// notify queues what each subscription is to get now. While somebody looks, nothing new is said;
// what was said before is corrected all the same.
func (l *loop) notify(f *file, rootID string, r *room, now time.Time) {
	seen := []string{rootID}
	for _, n := range r.open {
		seen = append(seen, n.SessionID)
	}
	looking := l.Looking(r.needed(), seen...)
	projectID, _ := l.ProjectOf(rootID)
	for _, s := range slices.Clone(f.Subscriptions) {
		before := f.notified(rootID, s.ID)
		grants, sees := l.Access(s.ClientID, projectID)
		settings := f.settings(s.ClientID)
		items := r.wanted(level(settings, rootID))
		if !sees {
			items = nil
		}
		until := quietUntil(settings.Quiet, now)
		if looking || !until.IsZero() {
			items = slices.DeleteFunc(items, func(n sessions.Notice) bool { return !slices.Contains(before, n.ID) })
		}
		if !until.IsZero() && len(r.open) > 0 && (r.due.IsZero() || until.Before(r.due)) {
			r.due = until
		}
		l.tell(f, rootID, s, items, before, grants, now)
	}
}

// needed returns the grant of a person who can do what the session waits for, or continue it.
func (r *room) needed() api.Grant {
	if slices.ContainsFunc(r.open, func(n sessions.Notice) bool { return n.Kind == sessions.NoticeApproval }) {
		return api.GrantApprove
	}
	return api.GrantPrompt
}

// wanted returns what a client with a level is notified of.
func (r *room) wanted(l api.PushLevel) []sessions.Notice {
	if l == api.PushNone {
		return nil
	}
	items := slices.Clone(r.open)
	if r.once != nil && len(items) == 0 && (l == api.PushAll || r.once.Kind != sessions.NoticeEnded) {
		items = append(items, *r.once)
	}
	return items
}

// tell queues a notification for a subscription if it differs from the one before.
func (l *loop) tell(f *file, rootID string, s subscription, items []sessions.Notice, before []string, grants []api.Grant, now time.Time) {
	ids := make([]string, 0, len(items))
	for _, n := range items {
		ids = append(ids, n.ID)
	}
	if slices.Equal(ids, before) {
		return
	}
	if len(items) == 0 {
		if !slices.ContainsFunc(before, waits) {
			return
		}
		f.setNotified(rootID, s.ID, nil)
		if !f.unqueue(s.ID, rootID, l.sending[s.ID]) {
			f.queue(s.ID, l.withdrawn(rootID), now)
		}
		return
	}
	m := l.compose(rootID, items, s, grants)
	m.Quiet = !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(before, id) })
	f.unqueue(s.ID, rootID, l.sending[s.ID])
	f.queue(s.ID, m, now)
	f.setNotified(rootID, s.ID, ids)
}

// forget removes what is stored about a deleted session. Devices that were notified of something
// that waits there take that back; what else they were notified of stays true.
func (l *loop) forget(sessionID string) {
	delete(l.rooms, sessionID)
	if !slices.ContainsFunc(l.store.read().Notified, func(t notified) bool { return t.Session == sessionID }) {
		return
	}
	err := l.store.change(func(f *file) error {
		for _, t := range slices.Clone(f.Notified) {
			if t.Session != sessionID {
				continue
			}
			f.setNotified(sessionID, t.To, nil)
			if never := f.unqueue(t.To, sessionID, l.sending[t.To]); !never && slices.ContainsFunc(t.IDs, waits) {
				f.queue(t.To, l.withdrawn(sessionID), time.Now())
			}
		}
		return nil
	})
	if err != nil {
		l.Logger.Error("removing the notifications of a session", "session", sessionID, "error", err)
	}
}

// unqueue removes a notification of a session that waits to be sent to a subscription; true if
// the device cannot have got any of it.
func (f *file) unqueue(to, tag string, sending bool) bool {
	never := false
	f.Deliveries = slices.DeleteFunc(f.Deliveries, func(d delivery) bool {
		same := d.To == to && d.Message.Tag == tag
		never = never || same && d.Attempts == 0 && !sending
		return same
	})
	return never
}

// queue adds a notification to those that are to be sent. The oldest give way.
func (f *file) queue(to string, m push.Message, now time.Time) {
	f.Deliveries = append(f.Deliveries, delivery{ID: newID("ntf_"), To: to, Message: m, Expires: now.Add(m.TTL).UnixMilli()})
	if over := len(f.Deliveries) - maxDeliveries; over > 0 {
		f.Deliveries = f.Deliveries[over:]
	}
}
