package sessions

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Holder has the sessions begin nothing new while the host is to be replaced. Its mu is taken
// after that of the registry.
type Holder struct {
	sessions *registry
	ctx      context.Context // ends the open sessions
	logger   *slog.Logger

	deciding sync.Mutex // held while HoldAll, KeepHeld or ReleaseAll runs

	mu   sync.Mutex
	held bool // sessions that are opened begin nothing new
	kept bool // held until the end
}

// holds reports whether a session that is opened begins nothing new.
func (h *Holder) holds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// HoldAll has the sessions begin nothing new, and returns when none of them works, so that the host
// can be replaced. Prompts are still accepted, and join the queues. Turns that wait for a person are
// suspended at the end: they continue after ReleaseAll, or on the host's next start. If ctx ends
// before, all sessions continue, and the error is that of ctx. Repeating it changes nothing.
func (h *Holder) HoldAll(ctx context.Context) error {
	if !h.deciding.TryLock() {
		return api.Errorf(api.KindConflict, "the host is already waiting for its turns to end: wait for the other command")
	}
	defer h.deciding.Unlock()
	h.mu.Lock()
	h.held = true
	h.mu.Unlock()
	err := h.holdAll(ctx)
	if err != nil {
		h.releaseAll()
	}
	return err
}

func (h *Holder) holdAll(ctx context.Context) error {
	for _, s := range h.sessions.opened() { // before any is waited for
		if _, err := s.holdUntil(ctx, func() bool { return true }); err != nil && !errors.Is(err, ErrClosed) {
			return err
		}
	}
	for {
		if err := h.awaitQuiet(ctx); err != nil {
			return err
		}
		if done, err := h.suspendAll(ctx); done || err != nil {
			return err
		}
	}
}

// KeepHeld has what HoldAll began last until the sessions are closed, for a host that is about to be
// replaced. It reports whether the sessions are held: they are not while HoldAll still waits.
func (h *Holder) KeepHeld() bool {
	if !h.deciding.TryLock() {
		return false
	}
	defer h.deciding.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = h.held
	return h.kept
}

// ReleaseAll ends what HoldAll began, unless another HoldAll waits, which decides then, or the
// sessions are held to the end.
func (h *Holder) ReleaseAll() {
	if !h.deciding.TryLock() {
		return
	}
	defer h.deciding.Unlock()
	h.releaseAll()
}

func (h *Holder) releaseAll() {
	h.mu.Lock()
	kept := h.kept
	h.held = h.held && kept
	h.mu.Unlock()
	if kept {
		return
	}
	for _, s := range h.sessions.opened() {
		err := s.ask(h.ctx, func() { s.release(h.ctx) })
		if err != nil && !errors.Is(err, ErrClosed) && h.ctx.Err() == nil {
			h.logger.Error("continuing a session that was held", "session", s.id, "error", err)
		}
	}
}

// Working returns how many sessions do something that has to end before the host can be replaced.
func (h *Holder) Working(ctx context.Context) (count int) {
	for _, s := range h.sessions.opened() {
		quiet := true
		if err := s.ask(ctx, func() { quiet = s.quiet() }); err == nil && !quiet {
			count++
		}
	}
	return count
}

// awaitQuiet returns once no session works, which it has seen in one pass over all of them. A turn
// may use more sessions before it ends.
func (h *Holder) awaitQuiet(ctx context.Context) error {
	for again := true; again; {
		again = false
		for _, s := range h.sessions.opened() {
			waited, err := s.holdUntil(ctx, s.quiet)
			if err != nil && !errors.Is(err, ErrClosed) {
				return err
			}
			again = again || waited
		}
	}
	return nil
}

// suspendAll suspends the turns that wait for a person; false if a session works again, because it
// was answered in between.
func (h *Holder) suspendAll(ctx context.Context) (done bool, err error) {
	var suspended []*Session
	for _, s := range h.sessions.opened() {
		busy := false
		err := s.ask(ctx, func() {
			if busy = !s.quiet(); busy {
				return
			}
			s.held.on = true // subagents' sessions too: no parent works any more
			if !s.rests() {
				suspended = append(suspended, s)
				s.turns.running.cancel()
			}
		})
		if err == nil && !busy {
			_, err = s.holdUntil(ctx, s.rests)
		}
		if err != nil && !errors.Is(err, ErrClosed) {
			return false, err
		}
		if busy {
			return false, h.unsuspend(ctx, suspended)
		}
	}
	return true, nil
}

// unsuspend undoes what suspendAll did.
func (h *Holder) unsuspend(ctx context.Context, suspended []*Session) error {
	for _, s := range h.sessions.opened() {
		err := s.ask(ctx, func() { s.held.on = s.held.on && s.parent == "" })
		if err == nil && slices.Contains(suspended, s) {
			err = s.do(ctx, func() { s.recover(ctx) })
		}
		if err != nil && !errors.Is(err, ErrClosed) {
			return err
		}
	}
	return nil
}

// holding is what a session that begins nothing new has to tell.
type holding struct {
	on      bool
	waiters []waiter
}

// waiter waits until something is the case for a session.
type waiter struct {
	until   func() bool
	reached chan struct{}
}

// quiet reports whether the session rests, or could be suspended. The turn of a subagent's task
// cannot: it ends with the turn of the parent. Neither can that of another program, nor the call of
// an MCP server that asks something: they cannot be begun again.
func (s *Session) quiet() bool {
	return s.rests() || s.waitsForPerson() && s.summary.Backend == "" && !s.questions.fromServer()
}

// holdUntil has the session begin nothing new, and waits until something is the case; waited is
// false if it was at once. A subagent's session works on, since the turn of its parent needs it.
func (s *Session) holdUntil(ctx context.Context, until func() bool) (waited bool, err error) {
	w := waiter{until: until, reached: make(chan struct{})}
	err = s.ask(ctx, func() {
		s.held.on = s.held.on || s.parent == ""
		if waited = !until(); waited {
			s.held.waiters = append(s.held.waiters, w)
		}
	})
	if err != nil || !waited {
		return false, err
	}
	select {
	case <-w.reached:
		return true, nil
	case <-s.stopped:
		return true, ErrClosed
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
}

// release lets the session begin new work, and begins what waited.
func (s *Session) release(ctx context.Context) {
	if !s.held.on && len(s.held.waiters) == 0 {
		return
	}
	s.held = holding{}
	if s.log != nil {
		s.recover(context.WithoutCancel(ctx))
	}
}

// tellWaiters does for HoldAll what pauseAtRest does for Pause.
func (s *Session) tellWaiters() {
	s.held.waiters = slices.DeleteFunc(s.held.waiters, func(w waiter) bool {
		if !w.until() {
			return false
		}
		close(w.reached)
		return true
	})
}

// errHeld answers those who decide something that a suspended turn waits for.
func errHeld() error {
	return api.Errorf(api.KindUnavailable, "the host is being replaced: try again in a moment")
}
