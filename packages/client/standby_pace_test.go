package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestRelaysCannotHurryAClient: reports cause one attempt in a second, for all that wait.
func TestRelaysCannotHurryAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStandby(ident.ID{})
		reports := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		for i, report := range reports {
			for range 2 {
				if got := s.turn(report); got != time.Duration(i)*hurry {
					t.Errorf("report %d may cause an attempt after %s", i, got)
				}
			}
		}
		time.Sleep(time.Minute)
		if got := s.turn(make(chan struct{})); got != 0 {
			t.Errorf("after a minute it waits %s", got)
		}
	})
}
