package sessions

import (
	"context"
	"errors"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Pause has sessions begin nothing new, and returns when none of them works. From then on they
// refuse changes with why, and can be read. A turn that waits for a person is suspended: it
// continues after Resume, or on the host that has the session then. Without wait, a session
// that works is a conflict.
func (h *Handover) Pause(ctx context.Context, ids []string, why error, wait bool) error {
	for i, id := range ids {
		s, err := h.sessions.Open(id)
		if err == nil {
			err = s.pause(ctx, why, wait)
		}
		if err != nil {
			h.Resume(context.WithoutCancel(ctx), ids[:i]) // the last one is not paused, or by another move
			if i > 0 {
				err = ofSubagent(id, err)
			}
			return err
		}
	}
	return nil
}

// PauseFamily is Pause for a session and those of its subagents, whose ids it returns. A turn
// that ends first may begin more of them.
func (h *Handover) PauseFamily(ctx context.Context, id string, why error, wait bool) (paused []string, err error) {
	for {
		family, err := h.sessions.Family(id)
		more := slices.DeleteFunc(family, func(id string) bool { return slices.Contains(paused, id) })
		if err == nil && len(more) == 0 {
			return paused, nil
		}
		if err == nil {
			err = h.Pause(ctx, more, why, wait)
		}
		if err != nil {
			h.Resume(context.WithoutCancel(ctx), paused)
			return nil, err
		}
		paused = append(paused, more...)
	}
}

// Resume ends what Pause began. Sessions that were not paused go on as before.
func (h *Handover) Resume(ctx context.Context, ids []string) {
	for _, id := range ids {
		s, err := h.sessions.Open(id)
		if err != nil {
			continue // it is gone, or the host ends
		}
		err = s.do(ctx, func() { s.unpause(ctx, s.pausing) })
		if err != nil {
			h.sessions.deps.Logger.Error("resuming a session that was not moved", "session", id, "error", err)
		}
	}
}

// pauseRequest has a session pause as soon as it rests.
type pauseRequest struct {
	why    error
	paused chan struct{} // closed when it has
	asked  bool          // the turn that waits for a person was asked to suspend
}

func (s *Session) pause(ctx context.Context, why error, wait bool) error {
	request := &pauseRequest{why: why, paused: make(chan struct{})}
	err := s.change(ctx, func() error {
		switch {
		case s.pausing != nil:
			return api.Errorf(api.KindConflict, "the session is being moved already: wait until that has ended, or cancel it")
		case s.log.Damage() != "":
			return &store.DamageError{What: s.log.Damage()}
		case !wait && !s.rests() && !s.waitsForPerson():
			return s.busyError()
		}
		s.pausing = request
		s.pauseAtRest()
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-request.paused:
		return nil
	case <-s.stopped:
		return clientError(ErrClosed)
	case <-ctx.Done():
		err := s.do(context.WithoutCancel(ctx), func() { s.unpause(ctx, request) })
		return clientError(errors.Join(context.Cause(ctx), err))
	}
}

// unpause ends what a pause request began, unless another one has taken its place.
func (s *Session) unpause(ctx context.Context, request *pauseRequest) {
	if request != nil && s.pausing == request {
		s.pausing, s.paused = nil, nil
		s.recover(context.WithoutCancel(ctx))
	}
}

func (s *Session) busyError() error {
	if s.turns.running == nil && !s.working() {
		return api.Errorf(api.KindConflict, "background commands of the session are running: wait until they end, or stop them, then try again")
	}
	return api.Errorf(api.KindConflict, "a turn is running: wait until it ends or cancel it, then try again")
}

// rests reports whether nothing of the session runs.
func (s *Session) rests() bool { return !s.working() && len(s.operations.sink.Running()) == 0 }

// waitsForPerson reports whether a turn runs that does nothing but wait for an answer, so that
// it can be suspended.
func (s *Session) waitsForPerson() bool {
	return s.turns.running != nil && !s.turns.taskRuns() && s.approvals.waiting.Len()+s.questions.waiting.Len() > 0 &&
		s.summaries.running == nil && s.titles.cancel == nil && len(s.operations.sink.Running()) == 0
}

// pauseAtRest does what a pause request asks once the session allows it. The session's
// goroutine calls it after each change.
func (s *Session) pauseAtRest() {
	s.tellWaiters()
	request := s.pausing
	switch {
	case request == nil || s.paused != nil:
	case s.rests():
		s.paused = request.why
		close(request.paused)
	case s.waitsForPerson() && !request.asked:
		request.asked = true
		s.turns.running.cancel()
	}
}
