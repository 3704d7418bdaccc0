package limits

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter[int](Rate{Burst: 2, Every: time.Second})
		take := func(key int, want bool) {
			t.Helper()
			if got := l.take(key); got != want {
				t.Errorf("take(%d) = %v", key, got)
			}
		}
		take(1, true)
		take(1, true)
		take(1, false)
		take(2, true)
		if l.left(1) || !l.left(2) || !l.left(3) {
			t.Error("left disagrees with take")
		}
		<-time.After(time.Second) // virtual
		take(1, true)
		take(1, false)

		l.most = 3
		take(2, true)
		take(3, true)
		take(4, true) // over the bound: shared
		take(5, true)
		take(6, false)
		if len(l.buckets) > 3 {
			t.Errorf("%d buckets kept", len(l.buckets))
		}
		<-time.After(time.Minute) // virtual; all are full again and forgotten
		take(7, true)
		if len(l.buckets) != 1 {
			t.Errorf("%d buckets kept after a minute", len(l.buckets))
		}
	})
}
