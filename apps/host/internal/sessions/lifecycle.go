package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
)

// openLog opens the log, if it is not open, and resumes the work that waits in it.
func (s *Session) openLog(ctx context.Context) error {
	if s.log != nil {
		return nil
	}
	if s.closing {
		return ErrClosed
	}
	log, err := s.provider.Open(context.WithoutCancel(ctx), s.id) // a caller that stops waiting does not end this
	s.unreachable = errors.Is(err, store.ErrUnavailable)
	if err != nil {
		return err
	}
	s.restore(ctx, log)
	return nil
}

// restore takes over a log that was opened, and reads from it what the session needs to know.
func (s *Session) restore(ctx context.Context, log store.Log) {
	s.log = store.NewSession(log, store.WithSigner(s.deps.Sign))
	s.stream.reset(s.log.LastSeq())
	s.view = window.NewView()
	s.live.Processes = s.operations.sink.Running()
	s.derive()
	if !s.opened {
		s.opened = true
		s.turns.restore()
		s.notes.restore()
	}
	s.recover(ctx)
}

// derive renews what is derived from the log.
func (s *Session) derive() {
	s.digest, s.done = index.DigestOf(s.log.Header(), s.log.Tree().Entries()), read.DoneKeys(s.log.Tree())
	s.prompts.restore()
	s.updateSummary()
}

// recover ends a turn that a crash of the host cut off, and starts what waits. If the host
// crashes while it does so, the next start writes what is missing.
func (s *Session) recover(ctx context.Context) {
	if s.log.Damage() != "" || s.paused != nil || s.turns.running != nil { // no crash cut off a turn that runs
		return
	}
	s.subagents.failOpen()
	s.operations.endOrphans()
	if s.scheduler.resumeTurn() {
		return
	}
	s.approvals.voidAll()
	s.questions.voidAll()
	if s.scheduler.resumeForJobs() {
		return
	}
	if read.Interrupted(s.log.Tree()) || s.digest.Owed != "" {
		if err := s.scheduler.endInterrupted(); err != nil {
			s.logger.Error("recording an interrupted turn", "session", s.id, "error", err)
		}
	}
	s.scheduler.next(ctx)
}

// retryWaiting is the time after which a prompt is tried again that could not be started, as
// on a full disk.
const retryWaiting = 5 * time.Second

// idleTimeout returns the time after which onIdle is called, unless a command comes before. The
// time of a prompt that waits to be tried again is not postponed by commands: a client that asks
// for the state of the session often enough would keep it from ever starting.
func (s *Session) idleTimeout() time.Duration {
	if s.log == nil || s.turns.running != nil || len(s.live.Queue) == 0 {
		s.retryAt = time.Time{}
		return s.deps.IdleAfter
	}
	if s.retryAt.IsZero() {
		s.retryAt = time.Now().Add(min(retryWaiting, s.deps.IdleAfter))
	}
	return time.Until(s.retryAt)
}

// onIdle starts work that waits, or lets an unused session sleep.
func (s *Session) onIdle(ctx context.Context) {
	s.retryAt = time.Time{}
	switch {
	case s.log == nil:
	case s.turns.running == nil && len(s.live.Queue) > 0:
		s.scheduler.next(ctx)
	case !s.working() && len(s.subscribers) == 0 && s.approvals.waiting.Len() == 0:
		s.sleep()
	}
}

// working reports whether something runs that the session's goroutine has to outlive.
func (s *Session) working() bool {
	return s.turns.running != nil || s.summaries.running != nil || s.titles.cancel != nil || s.hooks.running > 0
}

// cancelAll cancels all that working is about.
func (s *Session) cancelAll() {
	if s.turns.running != nil {
		s.turns.running.cancel()
	}
	if s.titles.cancel != nil {
		s.titles.cancel()
	}
	s.hooks.cancel()
	if s.summaries.running != nil {
		s.summaries.running.cancel()
	}
}

// sleep closes the log and discards what can be read from it again.
func (s *Session) sleep() {
	if s.log == nil {
		return
	}
	if err := s.log.Close(); err != nil {
		s.logger.Error("closing a session", "session", s.id, "error", err)
	}
	s.stream.discard()
	s.prompts.discard()
	s.log, s.view, s.digest, s.done = nil, nil, index.Digest{}, nil
}

// reload opens the log again if the provider could not tell what it stored. Entries that were
// stored after all are published now; they keep their place.
func (s *Session) reload(ctx context.Context) {
	if !s.lost || s.log == nil {
		return
	}
	known := len(s.log.Tree().Entries())
	err := s.log.Close()
	log, openErr := s.provider.Open(ctx, s.id)
	if err = errors.Join(err, openErr); openErr != nil {
		s.logger.Error("rereading a session", "session", s.id, "error", err)
		return // the next command tries again
	}
	s.lost, s.log = false, store.NewSession(log, store.WithSigner(s.deps.Sign))
	entries := s.log.Tree().Entries()
	for _, entry := range entries[min(known, len(entries)):] {
		s.publish(api.EntryAppended{Entry: s.view.Sendable(entry)})
	}
	s.derive()
	s.publish(api.QueueChanged{Queue: s.live.Queue})
}
