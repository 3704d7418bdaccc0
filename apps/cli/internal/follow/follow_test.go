package follow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestRunSurvivesLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := askScript(t)
		h := &scriptedHost{t: t, script: s, cuts: []int{1, 4, 6, 8}, down: 3}
		view := newRecorder()
		asked := 0
		view.decide = func(context.Context, api.Approval) (Verdict, error) {
			asked++
			time.Sleep(time.Second) // the person thinks; the bubble's clock moves at once
			return Verdict{Decision: api.DecisionAllow}, nil
		}
		result, err := h.run(t.Context(), view)
		if err != nil || result != (Result{SessionID: testSession, StopReason: session.StopEnd, Text: "Done."}) {
			t.Fatalf("got %+v, %v", result, err)
		}
		if want := []string{"I will look.", "Done."}; !slices.Equal(view.messages, want) {
			t.Errorf("messages %q, want %q", view.messages, want)
		}
		if asked != 1 || len(h.answers) != 1 || h.answers[0].Decision != api.DecisionAllow {
			t.Errorf("asked %d times, answers %+v", asked, h.answers)
		}
		if slices.ContainsFunc(h.prompts, func(key string) bool { return key != testKey }) {
			t.Errorf("the prompt was sent with the keys %q", h.prompts)
		}
		if h.dials != 1+4*4 {
			t.Errorf("dialed %d times", h.dials)
		}
	})
}

// TestABetterPathFollowsAtOnce: a connection that moves is nobody's concern, and one that fails
// while another path is known costs no time.
func TestABetterPathFollowsAtOnce(t *testing.T) {
	for _, tt := range []struct {
		ends  error
		lost  bool   // people are told
		where string // as they are told
	}{
		{client.ErrMoved, false, ""},
		{client.ErrPathLost, true, "its path failed"},
	} {
		t.Run(tt.ends.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &scriptedHost{t: t, script: askScript(t), cuts: []int{1, 4, 6}, ends: tt.ends}
				view, start := newRecorder(), time.Now()
				result, err := h.run(t.Context(), view)
				if err != nil || result.Text != "Done." || time.Since(start) != 0 {
					t.Fatalf("got %+v, %v, after %s", result, err, time.Since(start))
				}
				// The cut may come before the answer to a request or after it: the notice then
				// names the request or not. A connection that is cut before it has caught up
				// gives no second notice.
				told := len(view.notices) >= 2 && strings.HasPrefix(view.notices[0], "connection lost, trying again (") &&
					strings.HasSuffix(view.notices[0], tt.where+")") && view.notices[1] == "connected again"
				if h.dials != 4 || told != tt.lost || !tt.lost && len(view.notices) > 0 {
					t.Errorf("%d dials, notices %q", h.dials, view.notices)
				}
			})
		})
	}
}

func TestRunWaitsAsLongAsItWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), cuts: []int{4}, asked: 20 * time.Second}
		start := time.Now()
		if _, err := h.run(t.Context(), newRecorder()); err != nil || time.Since(start) < h.asked {
			t.Fatalf("ended after %s: %v", time.Since(start), err)
		}
	})
}

// TestADeviceThatIsBackEndsThePause: Wait decides how long a pause lasts, unless the other side
// has asked for one.
func TestADeviceThatIsBackEndsThePause(t *testing.T) {
	for _, asked := range []time.Duration{0, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := &scriptedHost{t: t, script: askScript(t), cuts: []int{4}, down: 3, asked: asked}
			var pauses []time.Duration
			h.wait = func(_ context.Context, most time.Duration) error {
				pauses = append(pauses, most)
				return nil
			}
			start := time.Now()
			if _, err := h.run(t.Context(), newRecorder()); err != nil || time.Since(start) != 4*asked {
				t.Fatalf("ended after %s: %v", time.Since(start), err)
			}
			want := []time.Duration{firstPause, 2 * firstPause, 4 * firstPause, 8 * firstPause}
			if asked > 0 {
				want = nil
			}
			if !slices.Equal(pauses, want) {
				t.Errorf("pauses of at most %v, want %v", pauses, want)
			}
		})
	}
}

func TestRunGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), cuts: []int{2}, down: 1_000_000}
		start := time.Now()
		_, err := h.run(t.Context(), newRecorder())
		if !errors.Is(err, errDown) {
			t.Fatalf("got %v", err)
		}
		if waited := time.Since(start); waited < defaultPatience || waited > defaultPatience+2*longestPause {
			t.Errorf("gave up after %s", waited)
		}
	})
}

// TestARefusedRequestEnds uses a host that cannot write: a short problem is waited out, and
// a long one ends the command with the request that failed.
func TestARefusedRequestEnds(t *testing.T) {
	for _, name := range []string{"send_prompt", "answer_approval", "resync_events"} {
		t.Run(name+" for a moment", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, view := refusing(t, name, 3)
				result, err := h.run(t.Context(), view)
				if err != nil || result.StopReason != session.StopEnd || h.refused != 3 {
					t.Fatalf("got %+v, %v, %d refusals", result, err, h.refused)
				}
			})
		})
		t.Run(name+" for good", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, view := refusing(t, name, 1_000_000)
				start := time.Now()
				_, err := h.run(t.Context(), view)
				var refused *api.Error
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "the disk is full") {
					t.Fatalf("got %v", err)
				}
				if waited := time.Since(start); waited > refusalPatience+longestPause || h.refused > 20 || h.dials > 2 {
					t.Errorf("it ended after %s, %d refusals and %d dials", waited, h.refused, h.dials)
				}
			})
		})
	}
}

// TestAMoveIsWaitedFor: a prompt to a session that is being moved is sent when that has ended,
// however long it takes.
func TestAMoveIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, view := refusing(t, "send_prompt", 500)
		h.moving = true
		start := time.Now()
		result, err := h.run(t.Context(), view)
		if err != nil || result.StopReason != session.StopEnd || h.refused != 500 {
			t.Fatalf("got %+v, %v, %d refusals", result, err, h.refused)
		}
		if waited := time.Since(start); waited < 10*refusalPatience {
			t.Errorf("it waited for %s only", waited)
		}
	})
}

// refusing is a host that refuses one request; a refused resync is the one after the first
// connection.
func refusing(t *testing.T, name string, times int) (*scriptedHost, *recorder) {
	h, view := &scriptedHost{t: t, script: askScript(t), refuse: map[string]int{name: times}}, newRecorder()
	view.decide = func(context.Context, api.Approval) (Verdict, error) { return Verdict{Decision: api.DecisionAllow}, nil }
	if name == "resync_events" {
		h.refuse, h.cuts, h.onCut = map[string]int{}, []int{4}, func() { h.refuse[name] = times }
	}
	return h, view
}

// TestConnectionsThatBreakAtOnceEnd: each connection is established, and lost before it
// brings anything.
func TestConnectionsThatBreakAtOnceEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), breakPrompts: true}
		start := time.Now()
		_, err := h.run(t.Context(), newRecorder())
		if !errors.Is(err, client.ErrLost) || !strings.Contains(err.Error(), "may not have received the prompt") {
			t.Fatalf("got %v", err)
		}
		if waited := time.Since(start); waited > defaultPatience+2*longestPause || h.dials > 40 {
			t.Errorf("it ended after %s and %d dials", waited, h.dials)
		}
	})
}

func TestRunFailsAtOnceWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), failing: 1}
		if _, err := h.run(t.Context(), newRecorder()); !errors.Is(err, errDown) || h.dials != 1 {
			t.Fatalf("got %v after %d dials", err, h.dials)
		}
	})
}

func TestInterruptCancelsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t}
		s.prompt(testTurn, testKey)
		s.add(api.MessageStarted{}) // the host pauses here until the turn is canceled
		s.message(testTurn, "", assistant(session.StopAborted, "I was about"))
		s.add(api.TurnEnded{TurnID: testTurn, ClientKey: testKey, StopReason: session.StopAborted})
		h := &scriptedHost{t: t, script: s}
		ctx, interrupt := context.WithTimeout(t.Context(), time.Second)
		defer interrupt()
		result, err := h.run(ctx, newRecorder())
		if err != nil || result.StopReason != session.StopAborted || result.Text != "I was about" || !h.canceled {
			t.Fatalf("got %+v, %v, canceled %t", result, err, h.canceled)
		}
	})
}

func TestInterruptWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), queue: true}
		view := newRecorder()
		ctx, interrupt := context.WithTimeout(t.Context(), time.Second)
		defer interrupt()
		if _, err := h.run(ctx, view); !errors.Is(err, ErrQueued) || len(view.notices) != 1 {
			t.Fatalf("got %v, notices %q", err, view.notices)
		}
	})
}

// TestQuestionIsWithdrawn lets another entry be faster: nothing waits for the person here.
func TestQuestionIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), othersAnswer: true}
		view := newRecorder()
		withdrawn := make(chan error, 1)
		view.decide = func(ctx context.Context, _ api.Approval) (Verdict, error) {
			<-ctx.Done()
			withdrawn <- ctx.Err()
			return Verdict{Decision: api.DecisionDeny}, ctx.Err()
		}
		result, err := h.run(t.Context(), view)
		if err != nil || result.StopReason != session.StopEnd {
			t.Fatalf("got %+v, %v", result, err)
		}
		if err := <-withdrawn; !errors.Is(err, context.Canceled) || len(h.answers) != 0 {
			t.Errorf("the question ended with %v, answers %+v", err, h.answers)
		}
	})
}
