package attention

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/push"
)

const (
	maxSending  = 4 // deliveries at a time
	maxAttempts = 8
	firstWait   = 30 * time.Second // before the second attempt; each later one waits twice as long
	longestWait = time.Hour
	storeAgain  = 5 * time.Second // after a failure to store how a delivery ended
)

// sent is how a delivery ended.
type sent struct {
	delivery delivery
	result   push.Result
}

func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:16]) }

// send starts the deliveries that are due, one at a time for each subscription.
func (l *loop) send(ctx context.Context, now time.Time) {
	stored := l.store.read()
	for _, d := range stored.Deliveries {
		if len(l.sending) >= maxSending {
			return
		}
		if l.sending[d.To] || now.Before(stored.due(d, now)) {
			continue
		}
		to := stored.subscription(d.To)
		l.sending[d.To] = true
		l.running.Go(func() { l.results <- sent{d, l.deliver(ctx, to, d, now)} })
	}
}

// due returns when a delivery may be sent: after the wait that a failed attempt causes, and after
// the quiet hours of its client. What takes a notification back makes no sound and does not wait.
func (f *file) due(d delivery, now time.Time) time.Time {
	due := time.UnixMilli(d.NotUntil)
	to := f.subscription(d.To)
	if to == nil || d.Message.Gone || d.Message.Quiet || now.UnixMilli() >= d.Expires {
		return due
	}
	if until := quietUntil(f.settings(to.ClientID).Quiet, now); until.After(due) {
		return until
	}
	return due
}

// deliver sends one notification. It is restored whole after a restart, but for its time.
func (l *loop) deliver(ctx context.Context, to *subscription, d delivery, now time.Time) push.Result {
	left := time.UnixMilli(d.Expires).Sub(now)
	switch {
	case to == nil:
		return push.Result{Err: errors.New("the subscription was removed")}
	case left <= 0:
		return push.Result{Err: errors.New("the notification was not delivered in time")}
	}
	projectID, exists := l.ProjectOf(d.Message.Session)
	if _, sees := l.Access(to.ClientID, projectID); (!sees || !exists) && !d.Message.Gone { // that names the session only
		return push.Result{Err: errors.New("the client does not see the session any more")}
	}
	channel := l.channels[to.Kind]
	if channel == nil {
		return push.Result{Err: errors.New("this version of scorel does not know this kind of subscription")}
	}
	d.Message.ID, d.Message.TTL, d.Message.Urgent = d.ID, left, waitsFor(d.Message)
	return channel.Send(ctx, to.Address, d.Message)
}

// waitsFor reports whether a message says that something waits.
func waitsFor(m push.Message) bool { return m.Kind == "approval" || m.Kind == "question" }

// sent records how a delivery ended. Until that is stored, nothing else is sent to the
// subscription: on a full disk the same notification would be sent again and again.
func (l *loop) sent(s sent, now time.Time) {
	if err := l.store.change(func(f *file) error { l.ended(f, s, now); return nil }); err != nil {
		l.Logger.Error("storing how a notification was delivered", "error", err)
		l.unstored, l.storeAt = append(l.unstored, s), now.Add(storeAgain)
		return
	}
	delete(l.sending, s.delivery.To)
}

// storeLate tries again to store what could not be.
func (l *loop) storeLate(now time.Time) {
	if len(l.unstored) == 0 || now.Before(l.storeAt) {
		return
	}
	late := l.unstored
	l.unstored = nil
	for _, s := range late {
		l.sent(s, now)
	}
}

// ended notes how a delivery ended. One that was replaced meanwhile is only noted.
func (l *loop) ended(f *file, s sent, now time.Time) {
	i := slices.IndexFunc(f.Deliveries, func(d delivery) bool { return d.ID == s.delivery.ID })
	to := f.subscription(s.delivery.To)
	if s.result.Ended && to != nil {
		l.Logger.Info("a subscription has ended", "subscription", to.ID, "client", to.ClientID)
		f.drop(to.ID)
		return
	}
	again := s.result.Retry && i >= 0 && f.again(i, s.result, now)
	if i >= 0 && !again {
		f.Deliveries = slices.Delete(f.Deliveries, i, i+1)
	}
	note(to, s.result, again, now)
}

// again plans another attempt; false if there have been enough.
func (f *file) again(i int, r push.Result, now time.Time) bool {
	d := &f.Deliveries[i]
	d.Attempts++
	wait := min(firstWait<<(d.Attempts-1), longestWait)
	d.NotUntil = now.Add(max(wait, r.After)).UnixMilli()
	return d.Attempts < maxAttempts && d.NotUntil < d.Expires
}

// note records the result of the last delivery to a subscription, which may be gone.
func note(to *subscription, r push.Result, again bool, now time.Time) {
	if to == nil {
		return
	}
	to.LastAt, to.LastError = now.UnixMilli(), ""
	if r.Err != nil {
		to.LastError = push.Cut(r.Err.Error(), 300)
	}
	if again {
		to.LastError += "; it will be sent again"
	}
}

// nextDelivery returns when a delivery is due that nothing else makes wait; the zero time if none
// is.
func (l *loop) nextDelivery() (at time.Time) {
	if len(l.sending) >= maxSending {
		return at
	}
	stored, now := l.store.read(), time.Now()
	for _, d := range stored.Deliveries {
		if due := stored.due(d, now); !l.sending[d.To] && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at
}
