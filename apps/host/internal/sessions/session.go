package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Subscriber hears of a session's events, in order. Deliver does not block; the
// encoded form is the whole message for the wire.
type Subscriber interface {
	Deliver(event api.EventEnvelope, encoded []byte)
}

// Deps are what sessions need of the host. All fields are required.
type Deps struct {
	Logger *slog.Logger
	Models Models
	// Tools makes the tools of a session when it is opened; they are closed with it.
	Tools  func(sessionID string) agent.Toolset
	System func(cwd string) string
	// OnSummary is told of every change of a summary. It does not block.
	OnSummary func(api.SessionSummary)
}

// Models finds models by their name in the configuration.
type Models interface {
	// Model returns the model of that name, or an *api.Error of KindUnknownModel.
	Model(name string) (agent.Model, api.Model, error)
	// Find returns the name of the model that provider knows as id, or "".
	Find(provider, id string) string
	Default() string
}

// ErrClosed says that the session was closed, as when the host ends.
var ErrClosed = errors.New("sessions: the session is closed")

// Session is one open session. Its goroutine owns all of it; the methods send it
// commands and wait.
type Session struct {
	// Static after open.
	id      string
	project api.Project
	deps    Deps
	tools   agent.Toolset
	epoch   string

	commands chan func()
	stopped  chan struct{} // closed when the goroutine has ended

	// Owned by run.
	log         *Log
	seq         uint64 // of the last event
	ring        ring
	live        api.Live
	summary     api.SessionSummary
	keys        map[string]string // clientKey of a prompt -> id of its entry
	subscribers map[Subscriber]struct{}
	turn        *runningTurn
	pending     map[string]*pendingApproval
	closing     bool
}

// commandBuffer lets a model's deltas queue up while a line is synced to disk.
const commandBuffer = 256

func newSession(project api.Project, log *Log, deps Deps) *Session {
	s := &Session{
		id:          log.header.ID,
		project:     project,
		deps:        deps,
		tools:       deps.Tools(log.header.ID),
		epoch:       randomHex(8),
		commands:    make(chan func(), commandBuffer),
		stopped:     make(chan struct{}),
		log:         log,
		seq:         log.lastSeq,
		live:        api.NewLive(),
		keys:        map[string]string{},
		subscribers: map[Subscriber]struct{}{},
		pending:     map[string]*pendingApproval{},
	}
	s.restore()
	return s
}

// restore reads from the log what the session needs to know.
func (s *Session) restore() {
	for _, entry := range s.log.tree.Entries() {
		if m, ok := entry.AsMessage(); ok && m.ClientKey != "" {
			s.keys[m.ClientKey] = m.ID
		}
	}
	s.live.Queue = waitingPrompts(s.log.tree, s.keys)
	s.summary = summarize(s.project.ID, s.log, s.deps.Models)
}

// run is the goroutine that owns the session. It returns when ctx has ended and
// the running turn, which it cancels, has too.
func (s *Session) run(ctx context.Context) {
	defer close(s.stopped)
	s.recover(ctx)
	ended := ctx.Done()
	for !s.closing || s.turn != nil {
		select {
		case command := <-s.commands:
			command()
		case <-ended:
			ended = nil
			s.closing = true
			if s.turn != nil {
				s.turn.cancel()
			}
		}
	}
	s.tools.Close()
	if err := s.log.Close(); err != nil {
		s.deps.Logger.Error("closing a session file", "session", s.id, "error", err)
	}
}

// recover ends a turn that a crash of the host left open, and goes on with the
// prompts that waited.
func (s *Session) recover(ctx context.Context) {
	if s.log.damage != "" {
		return
	}
	if interrupted(s.log.tree) {
		record := session.TurnRecord{
			TurnID:     "interrupted",
			StopReason: session.StopError,
			Error:      "The host stopped during this turn. What it did until then is kept; send a message to go on.",
		}
		if err := s.appendCustom(session.CustomTurn, record, ""); err != nil {
			s.deps.Logger.Error("noting an interrupted turn", "session", s.id, "error", err)
		}
	}
	s.startNext(ctx)
}

// do runs fn in the session's goroutine and waits for it.
func (s *Session) do(ctx context.Context, fn func()) error {
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

// entryHead is what every entry of ours starts from.
type entryHead struct {
	id        string
	parent    *string
	timestamp string
	seq       uint64
}

// append puts an entry on disk and then tells everybody.
func (s *Session) append(build func(entryHead) any) (session.Entry, error) {
	head := entryHead{id: s.newEntryID(), timestamp: session.FormatTime(time.Now()), seq: s.seq + 1}
	if leaf := s.log.tree.Leaf(); leaf != "" {
		head.parent = &leaf
	}
	line, err := session.Encode(build(head))
	if err != nil {
		return session.Entry{}, err
	}
	entry, err := s.log.Append(line)
	if err != nil {
		return session.Entry{}, err
	}
	s.publish(api.EntryAppended{Entry: entry})
	return entry, nil
}

func (s *Session) appendCustom(customType string, data any, clientID string) error {
	raw, err := session.Encode(data)
	if err != nil {
		return err
	}
	_, err = s.append(func(h entryHead) any {
		return session.CustomEntry{
			Type: session.TypeCustom, CustomType: customType, Data: raw,
			ID: h.id, ParentID: h.parent, Timestamp: h.timestamp, Seq: h.seq, ClientID: clientID,
		}
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
	s.ring.add(envelope, len(encoded))
	for subscriber := range s.subscribers {
		subscriber.Deliver(envelope, encoded)
	}
}

// touch renews the summary and tells the host when it changed.
func (s *Session) touch() {
	summary := summarize(s.project.ID, s.log, s.deps.Models)
	summary.Running = s.turn != nil
	summary.WaitingApproval = len(s.pending) > 0
	if summary != s.summary {
		s.summary = summary
		s.deps.OnSummary(summary)
	}
}

func (s *Session) newEntryID() string {
	for {
		id := randomHex(4)
		if _, taken := s.log.tree.Get(id); !taken {
			return id
		}
	}
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}

// refuse turns an error of the log into one for the entry.
func refuse(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDamaged):
		return api.Errorf(api.KindDamaged, "this session's file is damaged and was not written to: %s", err)
	case errors.Is(err, ErrClosed):
		return api.Errorf(api.KindUnavailable, "the host is ending: try again in a moment")
	}
	return api.Errorf(api.KindUnavailable, "the session could not be written, nothing was lost: %s", fmt.Sprint(err))
}
