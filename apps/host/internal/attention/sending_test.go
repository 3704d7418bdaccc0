package attention

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/push"
)

func TestFailedDeliveriesAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.sent.result = func(push.Address) push.Result {
			return push.Result{Err: errors.New("too many"), Retry: true, After: 10 * time.Minute}
		}
		s.Needs(approval("apr_1"))
		s.want(time.Minute, "approval")
		s.want(9*time.Minute + 2*time.Second - time.Minute)
		s.want(2*time.Minute, "approval")
		if got := s.store.read().Subscriptions[0]; got.LastError != "too many; it will be sent again" || got.LastAt == 0 {
			t.Fatalf("%+v", got)
		}
		all := s.after(23 * time.Hour)
		if len(all) != maxAttempts-2 || len(s.store.read().Deliveries) != 0 {
			t.Fatalf("%d more attempts, %d deliveries left", len(all), len(s.store.read().Deliveries))
		}
	})
}

func TestAnEndedSubscriptionIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.sent.result = func(push.Address) push.Result { return push.Result{Err: errors.New("ended"), Ended: true} }
		s.Needs(approval("apr_1"))
		s.want(time.Minute, "approval")
		if got := s.store.read(); len(got.Subscriptions)+len(got.Deliveries)+len(got.Notified) != 0 {
			t.Fatalf("%+v", got)
		}
	})
}

// TestARestartInTheMiddleOfSending: what was not confirmed is sent again, and what was confirmed
// is not, though the session asks again.
func TestARestartInTheMiddleOfSending(t *testing.T) {
	path := filepath.Join(t.TempDir(), "push.json")
	synctest.Test(t, func(t *testing.T) {
		s := start(t, path)
		s.sent.result = func(push.Address) push.Result { return push.Result{Err: context.Canceled, Retry: true} }
		s.Needs(approval("apr_1"))
		s.want(burst+time.Second, "approval")
		s.stop()
		s = start(t, path)
		s.Needs(approval("apr_1"))
		if m := s.want(time.Minute, "approval")[0]; m.Approval != "apr_1" || m.TTL <= 0 || !m.Urgent {
			t.Fatalf("%+v", m)
		}
		s.stop()
		s = start(t, path)
		defer s.stop()
		s.Needs(approval("apr_1"))
		s.want(time.Hour)
		s.Done("s", "apr_1")
		s.want(time.Second, "gone")
	})
}

// TestAFullDiskRepeatsNothing: a notification whose delivery cannot be stored is not sent again
// meanwhile, and what comes after it is sent when the disk has room.
func TestAFullDiskRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "home")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		s := start(t, filepath.Join(folder, "push.json"))
		defer func() { s.stop() }()
		move := func(from, to string) {
			if err := os.Rename(from, to); err != nil {
				t.Error(err)
			}
		}
		s.sent.result = func(push.Address) push.Result {
			if _, err := os.Stat(folder); err == nil {
				move(folder, folder+".away") // nothing can be stored from here on
			}
			return push.Result{}
		}
		s.Needs(approval("a"))
		if got := s.after(time.Minute); len(got) != 1 {
			t.Errorf("%d notifications were sent", len(got))
		}
		s.sent.mu.Lock()
		s.sent.result = nil
		s.sent.mu.Unlock()
		move(folder+".away", folder)
		s.Done("s", "a")
		if got := s.after(time.Minute); len(got) != 1 || !got[0].Gone {
			t.Errorf("then %+v", got)
		}
	})
}
