// Package sessions runs the sessions of a host. A store.Provider keeps their logs; one
// goroutine owns each session and is its only writer. An entry is stored before it is
// published.
//
// A session consists of a core, which has its log, its events and its live state, and of parts
// that use the core. Each part owns the state of one concern and can be read alone: turns,
// approvals, questions, prompts, summaries, notes, titles, subagents and others. The scheduler
// decides what runs next, and the runner runs a turn.
//
// An unused session closes its log and discards its memory. Its goroutine
// waits, and the next command brings it back from the log.
package sessions

import (
	"context"
	"time"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// Session is one session. Its goroutine owns all of it; the methods send it functions and
// wait for them.
type Session struct {
	*core

	// The parts with methods for clients.
	*approvals
	*questions
	*images
	*prompts
	*summaries
	*subagents
	*settings
	*history
	*setup
	*scheduler

	turns      *turns
	notes      *notes
	titles     *titles
	operations *operations
	hooks      *hooks

	provider store.Provider
	// toolsReady holds one: the tools may want a turn.
	toolsReady  chan struct{}
	retryAt     time.Time // when a prompt is tried again that could not be started; zero if none waits
	opened      bool      // the log was opened at least once
	unreachable bool      // the log could not be opened because its provider was unavailable
}

// newSession joins the parts of a session. Each is given the parts that it uses.
func newSession(k *known, provider store.Provider, deps Deps, others others) *Session {
	c := newCore(k, deps, others)
	tools := deps.Tools(c.id)
	turns := &turns{core: c}
	judge := &judge{core: c, turns: turns, tools: tools}
	setup := &setup{core: c, turns: turns, judge: judge, tools: tools}
	images := &images{c}
	notes := &notes{core: c, tools: tools}
	hooks := newHooks(c, turns, notes)
	s := &Session{
		core: c, turns: turns, setup: setup, images: images, notes: notes, hooks: hooks, provider: provider, toolsReady: make(chan struct{}, 1),
		titles:     &titles{core: c},
		operations: &operations{core: c, sink: process.NewSink(deps.Processes, c.id, deps.Logger)},
		subagents:  &subagents{core: c, turns: turns},
		approvals:  &approvals{core: c, turns: turns, judge: judge},
		questions:  &questions{core: c, turns: turns, hooks: hooks},
		prompts:    &prompts{core: c, turns: turns, images: images, setup: setup},
		summaries:  &summaries{core: c, turns: turns, notes: notes, hooks: hooks},
	}
	s.settings = &settings{core: c, approvals: s.approvals}
	s.history = &history{core: c, turns: turns, summaries: s.summaries}
	s.scheduler = &scheduler{
		core: c, turns: turns, judge: judge, setup: setup, images: images, notes: notes, hooks: hooks,
		prompts: s.prompts, summaries: s.summaries, titles: s.titles, settings: s.settings,
		runner: &runner{
			core: c, turns: turns, judge: judge, setup: setup, notes: notes, tools: tools, hooks: hooks,
			approvals: s.approvals, questions: s.questions, prompts: s.prompts, summaries: s.summaries, operations: s.operations,
		},
	}
	s.summaries.ended = s.scheduler.summaryEnded
	c.open, c.activity = s.openLog, s.activityNow
	tools.Listen(s.onToolsReady)
	return s
}

// activityNow tells what the parts of the session are doing.
func (s *Session) activityNow() activity {
	return activity{
		running:   s.turns.running != nil || s.summaries.shownAsTurn(),
		approvals: s.approvals.waiting.Len() > 0,
		questions: s.questions.waiting.Len() > 0,
	}
}

// onToolsReady has the session check whether its tools want a turn. Any goroutine may call it.
func (s *Session) onToolsReady() {
	select {
	case s.toolsReady <- struct{}{}:
	default: // it is going to check anyway
	}
}

// run is the goroutine that owns the session. It returns when ctx has ended and
// the running turn, which it cancels, has too. log is nil or already open.
func (s *Session) run(ctx context.Context, log store.Log) {
	defer close(s.stopped)
	if log != nil {
		s.restore(ctx, log)
	} else if err := s.openLog(ctx); err != nil {
		s.logger.Error("opening a session", "session", s.id, "error", err)
	}
	ended := ctx.Done()
	timer := time.NewTimer(s.idleTimeout())
	defer timer.Stop()
	for !s.closing || s.working() {
		select {
		case command := <-s.commands:
			s.operations.update(ctx) // what was reported before the command is published before it
			command()
			s.reload(ctx)
			s.pauseAtRest()
			timer.Reset(s.idleTimeout())
		case <-s.toolsReady:
			s.scheduler.startForJobs(ctx)
			s.pauseAtRest()
			timer.Reset(s.idleTimeout())
		case <-s.operations.sink.Ready():
			s.operations.update(ctx)
			s.reload(ctx)
			s.pauseAtRest()
		case <-timer.C:
			s.onIdle(ctx)
			timer.Reset(s.idleTimeout())
		case <-ended:
			ended = nil
			s.closing = true
			s.cancelAll()
		}
	}
	s.setup.tools.Close()
	s.forgetBackend()
	s.operations.sink.Close()
	s.operations.update(ctx)
	s.sleep()
}
