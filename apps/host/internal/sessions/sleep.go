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

// wake opens the log, if it is not open, and goes on with what waits in it.
func (s *Session) wake(ctx context.Context) error {
	if s.log != nil {
		return nil
	}
	if s.closing {
		return ErrClosed
	}
	log, err := s.provider.Open(context.WithoutCancel(ctx), s.id) // opening is not cut by one who stops waiting
	if err != nil {
		return err
	}
	s.restore(ctx, log)
	return nil
}

// restore reads from the log what the session needs to know.
func (s *Session) restore(ctx context.Context, log store.Log) {
	s.log = store.NewSession(log)
	s.epoch, s.seq, s.ring, s.live = randomHex(8), s.log.LastSeq(), window.Ring{}, api.NewLive()
	s.live.Processes = s.process.Running()
	s.derive()
	if !s.opened {
		s.opened = true
		s.missJobs()
	}
	s.recover(ctx)
}

func (s *Session) derive() {
	tree := s.log.Tree()
	s.keys, s.digest = read.TakenPrompts(tree), index.DigestOf(s.log.Header(), tree.Entries())
	s.done, s.removed = read.DoneKeys(tree), read.RemovedPrompts(tree)
	s.live.Queue = read.WaitingPrompts(tree, s.keys, s.done)
	s.touch()
}

// recover ends a turn that a crash of the host left open, and goes on with the
// prompts that waited. A crash in the middle of it is no harm: what is missing is
// written the next time.
func (s *Session) recover(ctx context.Context) {
	if s.log.Damage() != "" {
		return
	}
	s.closeCrews()
	s.endOrphans()
	if s.resumeTurn() {
		return
	}
	s.dropApprovals()
	s.dropQuestions()
	if read.Interrupted(s.log.Tree()) {
		if err := s.endInterrupted(); err != nil {
			s.deps.Logger.Error("noting an interrupted turn", "session", s.id, "error", err)
		}
	}
	s.startNext(ctx)
}

// retryWaiting is how long a prompt waits that could not be started, as on a full
// disk, until it is tried again.
const retryWaiting = 5 * time.Second

// patience returns how long the session may be left alone until look.
func (s *Session) patience() time.Duration {
	if s.log != nil && s.turn == nil && len(s.live.Queue) > 0 {
		return min(retryWaiting, s.deps.IdleAfter)
	}
	return s.deps.IdleAfter
}

// look finds work that waits, or lets an idle session sleep.
func (s *Session) look(ctx context.Context) {
	switch {
	case s.log == nil:
	case s.turn == nil && len(s.live.Queue) > 0:
		s.startNext(ctx)
	case s.turn == nil && s.work == nil && s.naming == nil && len(s.subscribers) == 0 && len(s.pending) == 0:
		s.sleep()
	}
}

// sleep closes the log and forgets what can be read from it again.
func (s *Session) sleep() {
	if s.log == nil {
		return
	}
	if err := s.log.Close(); err != nil {
		s.deps.Logger.Error("closing a session", "session", s.id, "error", err)
	}
	s.done, s.removed = nil, nil
	s.log, s.keys, s.ring, s.live, s.digest = nil, nil, window.Ring{}, api.NewLive(), index.Digest{}
}

// reread opens the log again where the provider could not tell what it stored. What
// was stored after all is told as if it had just come; entries keep their place.
func (s *Session) reread(ctx context.Context) {
	if !s.lost || s.log == nil {
		return
	}
	known := len(s.log.Tree().Entries())
	err := s.log.Close()
	log, openErr := s.provider.Open(ctx, s.id)
	if err = errors.Join(err, openErr); openErr != nil {
		s.deps.Logger.Error("reading a session again", "session", s.id, "error", err)
		return // the next command tries again
	}
	s.lost, s.log = false, store.NewSession(log)
	entries := s.log.Tree().Entries()
	for _, entry := range entries[min(known, len(entries)):] {
		s.publish(api.EntryAppended{Entry: window.Sendable(entry)})
	}
	s.derive()
	s.publish(api.QueueChanged{Queue: s.live.Queue})
}
