package sessions

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// serve runs the functions of an owner until the test ends.
func serve(t *testing.T, o *owner) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		defer close(o.stopped)
		for {
			select {
			case command := <-o.commands:
				command()
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
}

// TestACallerThatWaitsLeaves: the context of a request ends while the session is busy with
// something else. The request ends, and what it asked for never happens.
func TestACallerThatWaitsLeaves(t *testing.T) {
	gone := errors.New("the client is gone")
	for name, opens := range map[string]bool{"another request runs": false, "the log is being opened": true} {
		t.Run(name, func(t *testing.T) {
			o := newOwner()
			ctx, leave := context.WithCancelCause(t.Context())
			resume := make(chan struct{})
			slowly := func() {
				leave(gone)
				<-resume
			}
			if o.open = func(context.Context) error { return nil }; opens {
				o.open = func(context.Context) error { slowly(); return nil }
			} else {
				o.commands <- slowly
			}
			serve(t, &o)
			ran := false
			if err := o.do(ctx, func() { ran = true }); !errors.Is(err, gone) {
				t.Errorf("the request ends with %v", err)
			}
			close(resume)
			if err := o.ask(t.Context(), func() {}); err != nil { // after all that came before
				t.Fatal(err)
			}
			if ran {
				t.Error("what the request asked for has happened")
			}
		})
	}
}

// TestWhatHasBegunIsWaitedFor: its caller gets the answer, whatever becomes of the request.
func TestWhatHasBegunIsWaitedFor(t *testing.T) {
	o := newOwner()
	serve(t, &o)
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	err := o.ask(ctx, func() {
		cancel()
		ran = true
	})
	if err != nil || !ran {
		t.Errorf("got %v, ran %t", err, ran)
	}
}

// TestTheLastFunctionOfASessionIsAnswered: what ran before its session ended, as a deletion
// does, is not refused. On a busy machine both have happened when the caller looks.
func TestTheLastFunctionOfASessionIsAnswered(t *testing.T) {
	for range 100 {
		o, ended := newOwner(), make(chan error, 1)
		close(o.stopped)
		if err := o.wait(ended); !errors.Is(err, ErrClosed) {
			t.Fatalf("a function that did not run: %v", err)
		}
		ended <- nil
		if err := o.wait(ended); err != nil {
			t.Fatalf("a function that ran: %v", err)
		}
	}
}

// TestWhatATurnDidIsStored: a step that was made is in the log, although its turn is canceled and
// the session is busy.
func TestWhatATurnDidIsStored(t *testing.T) {
	c, log, _ := testCore(t, plainHeader)
	c.open = func(context.Context) error { return nil }
	resume := make(chan struct{})
	c.commands <- func() { <-resume }
	serve(t, &c.owner)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	stored := make(chan error, 1)
	go func() {
		stored <- journal{runner: &runner{core: c}, turnID: "turn"}.Append(canceled, session.Message{Role: session.RoleUser, Content: session.Content{session.Text("x")}})
	}()
	close(resume)
	if err := <-stored; err != nil || len(log.lines) != 1 {
		t.Errorf("%v; the log has %d lines", err, len(log.lines))
	}
}
