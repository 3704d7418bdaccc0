// Package sessions runs the sessions of a host. What they hold is kept by a
// store.Provider; one goroutine owns each session and is its only writer. An entry
// is stored before anybody hears of it.
//
// A session that nobody uses lets go of its log and its memory. Its goroutine
// waits, and the next command brings it back from the log.
package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Subscriber hears of a session's events, in order. Deliver does not block; the
// encoded form is the whole message for the wire.
type Subscriber interface {
	Deliver(event api.EventEnvelope, encoded []byte)
}

// ErrClosed says that the session was closed, as when the host ends.
var ErrClosed = errors.New("sessions: the session is closed")

// Session is one session. Its goroutine owns all of it; the methods send it
// commands and wait.
type Session struct {
	// Static after newSession.
	id       string
	project  api.Project
	provider store.Provider
	deps     Deps
	process  *process.Sink
	tools    agent.Toolset // they stay while the session sleeps: jobs of theirs may run
	// parentMode is the mode of the session whose agent had this one made; nil when a
	// person did.
	parentMode func() (api.Mode, bool)

	noter agent.Noter // the tools, where they have something to say; else nil

	commands chan func()
	nudged   chan struct{} // holds one: the noter may want a turn
	stopped  chan struct{} // closed when the goroutine has ended

	// Owned by run.
	summary     api.SessionSummary
	subscribers map[Subscriber][]api.Grant // with what each can answer
	turn        *runningTurn
	work        *runningWork
	pending     map[string]*pendingApproval
	questions   map[string]*pendingQuestion
	naming      context.CancelFunc // nil unless a model makes a title
	closing     bool
	unsaid      []session.Note // that could not be kept yet
	opened      bool           // the log was read at least once
	wakes       int            // turns in a row that no person asked for
	// lowest is the lowest of the modes that prompts were bound to: a turn that nobody
	// asks for may do no more than who may have started its cause.
	lowest api.Mode

	// Owned by run, and made anew each time the log is opened.
	log    *store.Session // nil while the session is asleep
	epoch  string
	seq    uint64 // of the last event
	ring   window.Ring
	live   api.Live
	digest index.Digest
	keys   map[string]string // clientKey of a prompt -> id of its entry
	done   map[string]string // clientKey of another request -> id of the entry that it made
	// removed are the clientKeys of prompts that were taken out of the queue.
	removed map[string]bool
	lost    bool // the provider does not know what it stored: read it again
}

// commandBuffer lets a model's deltas queue up while a line is synced to disk.
const commandBuffer = 256

func newSession(k *known, provider store.Provider, deps Deps) *Session {
	s := &Session{
		id:          k.header.ID,
		project:     k.project,
		provider:    provider,
		deps:        deps,
		process:     process.NewSink(deps.Processes, k.header.ID, deps.Logger),
		tools:       deps.Tools(k.header.ID),
		commands:    make(chan func(), commandBuffer),
		nudged:      make(chan struct{}, 1),
		stopped:     make(chan struct{}),
		summary:     k.summary,
		live:        api.NewLive(),
		subscribers: map[Subscriber][]api.Grant{},
		pending:     map[string]*pendingApproval{},
		questions:   map[string]*pendingQuestion{},
	}
	if noter, ok := s.tools.(agent.Noter); ok {
		s.noter = noter
		noter.Listen(s.nudge)
	}
	return s
}

// run is the goroutine that owns the session. It returns when ctx has ended and
// the running turn, which it cancels, has too. log is nil or already open.
func (s *Session) run(ctx context.Context, log store.Log) {
	defer close(s.stopped)
	if log != nil {
		s.restore(ctx, log)
	} else if err := s.wake(ctx); err != nil {
		s.deps.Logger.Error("opening a session", "session", s.id, "error", err)
	}
	ended := ctx.Done()
	timer := time.NewTimer(s.patience())
	defer timer.Stop()
	for !s.closing || s.turn != nil || s.work != nil || s.naming != nil {
		select {
		case command := <-s.commands:
			s.hear(ctx) // what was reported before the command is told before it
			command()
			s.reread(ctx)
			timer.Reset(s.patience())
		case <-s.nudged:
			s.heed(ctx)
			timer.Reset(s.patience())
		case <-s.process.Ready():
			s.hear(ctx)
			s.reread(ctx)
		case <-timer.C:
			s.look(ctx)
			timer.Reset(s.patience())
		case <-ended:
			ended = nil
			s.closing = true
			if s.turn != nil {
				s.turn.cancel()
			}
			if s.naming != nil {
				s.naming()
			}
			if s.work != nil {
				s.work.cancel()
			}
		}
	}
	s.tools.Close()
	s.process.Close()
	s.hear(ctx)
	s.sleep()
}

// do runs fn in the session's goroutine, with the log open, and waits for it.
func (s *Session) do(ctx context.Context, fn func()) error {
	var wakeErr error
	err := s.ask(ctx, func() {
		if wakeErr = s.wake(ctx); wakeErr == nil {
			fn()
		}
	})
	return errors.Join(err, wakeErr)
}

// ask runs fn in the session's goroutine and waits for it. The log may be closed.
func (s *Session) ask(ctx context.Context, fn func()) error {
	ran := make(chan struct{})
	if err := s.post(ctx, func() { fn(); close(ran) }); err != nil {
		return err
	}
	select {
	case <-ran:
		return nil
	case <-s.stopped:
		return ErrClosed
	}
}

// post queues fn for the session's goroutine.
func (s *Session) post(ctx context.Context, fn func()) error {
	select {
	case s.commands <- fn:
		return nil
	case <-s.stopped:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keepTimeout bounds how long a provider may take over one entry.
const keepTimeout = 30 * time.Second

// keep stores an entry and then tells everybody.
func (s *Session) keep(mark store.Mark, add func(context.Context, store.Mark) (session.Entry, error)) (session.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	mark.Seq = s.seq + 1
	entry, err := add(ctx, mark)
	if err != nil {
		s.lost = s.lost || errors.Is(err, store.ErrLost)
		return session.Entry{}, err
	}
	s.digest.Add(entry)
	if s.deps.Index != nil {
		s.deps.Index.Touch(s.id, s.project.ID)
	}
	if mark.ClientKey != "" && entry.Type != session.TypeMessage {
		s.done[mark.ClientKey] = entry.ID
	}
	s.publish(api.EntryAppended{Entry: window.Sendable(entry)})
	return entry, nil
}

func (s *Session) keepMessage(mark store.Mark, message session.Message) (session.Entry, error) {
	raw, err := session.Encode(message)
	if err != nil {
		return session.Entry{}, err
	}
	return s.keep(mark, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendMessage(ctx, mark, raw)
	})
}

func (s *Session) keepCustom(customType string, data any, clientID string) error {
	raw, err := session.Encode(data)
	if err != nil {
		return err
	}
	_, err = s.keep(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendCustom(ctx, mark, customType, raw)
	})
	return err
}

// publish numbers an event, projects it, and hands it to the ring and to every
// subscriber.
func (s *Session) publish(event api.Event) {
	s.seq++
	envelope := api.EventEnvelope{SessionID: s.id, Seq: s.seq, Event: event}
	encoded, err := api.EncodeEvent(envelope)
	if err != nil {
		s.deps.Logger.Error("encoding an event", "session", s.id, "type", event.EventType(), "error", err)
		return
	}
	s.live.Apply(event)
	s.ring.Add(envelope, len(encoded))
	for subscriber := range s.subscribers {
		subscriber.Deliver(envelope, encoded)
	}
}

// touch renews the summary and tells the host when it changed.
func (s *Session) touch() {
	summary := summarize(&s.digest, s.project.ID, s.log.Header(), s.log.Damage(), s.deps.Models)
	summary.Running = s.turn != nil || s.work != nil && s.work.turnID != ""
	summary.WaitingApproval, summary.WaitingAnswer = len(s.pending) > 0 || s.live.CrewWaits(), len(s.questions) > 0
	if summary != s.summary {
		s.summary = summary
		s.deps.OnSummary(summary)
	}
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}

// refuse turns an error of the log into one for the entry.
func refuse(err error) error {
	var told *api.Error
	var damage *store.DamageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &told):
		return told
	case refuseCarry(err) != nil:
		return refuseCarry(err)
	case errors.As(err, &damage):
		return api.Errorf(api.KindDamaged, "this session is damaged and was not written to: %s", damage.What)
	case errors.Is(err, ErrClosed):
		return api.Errorf(api.KindUnavailable, "the host is ending: try again in a moment")
	case errors.Is(err, store.ErrNotFound):
		return api.Errorf(api.KindNotFound, "the session is not there any more: %v", err)
	case errors.Is(err, store.ErrInUse):
		return api.Errorf(api.KindUnavailable, "%v", err)
	}
	return api.Errorf(api.KindUnavailable, "the session could not be written, nothing was lost: %s", fmt.Sprint(err))
}
