package pending_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/pending"
)

type (
	request = pending.Request[string, int]
	set     = pending.Set[string, int]
)

func TestTheFirstAnswerCounts(t *testing.T) {
	r := pending.New[string, int]()
	r.Answer(1)
	r.Answer(2)
	if got, err := r.Wait(t.Context(), time.Time{}); got != 1 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestWaitEnds(t *testing.T) {
	stop := errors.New("the turn was canceled")
	for name, c := range map[string]struct {
		deadline time.Duration
		act      func(*request, context.CancelCauseFunc)
		answer   int
		err      error
	}{
		"with the answer":   {0, func(r *request, _ context.CancelCauseFunc) { r.Answer(7) }, 7, nil},
		"before its time":   {time.Hour, func(r *request, _ context.CancelCauseFunc) { r.Answer(7) }, 7, nil},
		"at its deadline":   {time.Hour, func(*request, context.CancelCauseFunc) {}, 0, pending.ErrDeadline},
		"with its turn":     {0, func(_ *request, cancel context.CancelCauseFunc) { cancel(stop) }, 0, stop},
		"past its deadline": {-time.Hour, func(*request, context.CancelCauseFunc) {}, 0, pending.ErrDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				r := pending.New[string, int]()
				var deadline time.Time
				if c.deadline != 0 {
					deadline = time.Now().Add(c.deadline)
				}
				go func() {
					time.Sleep(time.Minute)
					c.act(r, cancel)
				}()
				got, err := r.Wait(ctx, deadline)
				if got != c.answer || !errors.Is(err, c.err) {
					t.Errorf("got %d, %v", got, err)
				}
				time.Sleep(time.Hour) // for the other goroutine
			})
		})
	}
}

func TestAnAnswerAfterTheDeadlineIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := pending.New[string, int]()
		if _, err := r.Wait(t.Context(), time.Now().Add(time.Second)); !errors.Is(err, pending.ErrDeadline) {
			t.Fatal(err)
		}
		r.Answer(3)
		if got, err := r.Wait(t.Context(), time.Time{}); got != 3 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
	})
}

func TestSet(t *testing.T) {
	var s set
	if _, ok := s.Take("a"); ok || s.Len() != 0 {
		t.Fatal("an empty set holds something")
	}
	a, b := pending.New[string, int](), pending.New[string, int]()
	a.Value, b.Value = "write", "delete"
	s.Add("a", a)
	s.Add("b", b)
	if got, ok := s.Get("b"); !ok || got != b || s.Len() != 2 || len(s.All()) != 2 {
		t.Fatalf("%+v, %t, %d requests", got, ok, s.Len())
	}
	if got, ok := s.Take("a"); !ok || got != a {
		t.Errorf("took %+v, %t", got, ok)
	}
	if _, ok := s.Take("a"); ok {
		t.Error("a request was taken twice")
	}
	if got := s.All(); len(got) != 1 || got[0] != b {
		t.Errorf("left are %+v", got)
	}
}
