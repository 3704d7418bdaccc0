package sessions

import (
	"errors"
	"testing"
)

// TestTheLastFunctionOfASessionIsAnswered: what ran before its session ended, as a deletion
// does, is not refused. On a busy machine both have happened when the caller looks.
func TestTheLastFunctionOfASessionIsAnswered(t *testing.T) {
	for range 100 {
		o, ran := newOwner(), make(chan struct{})
		close(o.stopped)
		if err := o.wait(ran); !errors.Is(err, ErrClosed) {
			t.Fatalf("a function that did not run: %v", err)
		}
		close(ran)
		if err := o.wait(ran); err != nil {
			t.Fatalf("a function that ran: %v", err)
		}
	}
}
