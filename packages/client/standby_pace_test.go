package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestRelaysCannotHurryAClient: reports cause one attempt in a second, for all that wait, also one
// report after which every attempt fails.
func TestRelaysCannotHurryAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStandby(ident.ID{})
		reports := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		began := time.Now()
		for i, report := range reports {
			for range 2 {
				if got := s.turn(report, began); got != time.Duration(i)*hurry {
					t.Errorf("report %d may cause an attempt after %s", i, got)
				}
			}
		}
		time.Sleep(time.Minute)
		if got := s.turn(make(chan struct{}), time.Now()); got != 0 {
			t.Errorf("after a minute it waits %s", got)
		}
		failing := make(chan struct{})
		var before time.Time
		for i := range 3 {
			at := time.Now().Add(s.turn(failing, time.Now()))
			if at.Sub(before) < hurry {
				t.Errorf("attempt %d follows after %s", i, at.Sub(before))
			}
			before = at
			time.Sleep(time.Until(at) + time.Millisecond)
		}
	})
}
