package sessions

import (
	"log/slog"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Subscriber receives the events of a session, in order. Deliver does not block; the
// encoded form is the whole message for the wire.
type Subscriber interface {
	Deliver(event api.EventEnvelope, encoded []byte)
	// Away reports whether no one sees the events now, so that no answer can be expected.
	// Manager.Attend is called when that changes.
	Away() bool
	// May reports whether the subscriber has a grant now. One that it lost counts no more
	// for answers. Manager.Attend is called when that changes.
	May(grant api.Grant) bool
}

// stream numbers the events of a session, applies them to its live state, and delivers them
// to its subscribers. The session's goroutine owns it.
type stream struct {
	sessionID   string
	logger      *slog.Logger
	subscribers map[Subscriber][]api.Grant // with the answers that each may give

	// These begin again each time the log is opened.
	epoch string
	seq   uint64 // of the last event
	ring  window.Ring
	live  api.Live
}

func newStream(sessionID string, logger *slog.Logger) stream {
	return stream{sessionID: sessionID, logger: logger, subscribers: map[Subscriber][]api.Grant{}, live: api.NewLive()}
}

// reset starts a new epoch after the last event of a log.
func (s *stream) reset(lastSeq uint64) {
	s.epoch, s.seq, s.ring, s.live = randomHex(8), lastSeq, window.Ring{}, api.NewLive()
}

// discard drops what can be read from the log again.
func (s *stream) discard() { s.ring, s.live = window.Ring{}, api.NewLive() }

// publish numbers an event, applies it to the live state, and hands it to the ring and to
// every subscriber.
func (s *stream) publish(event api.Event) {
	s.seq++
	envelope := api.EventEnvelope{SessionID: s.sessionID, Seq: s.seq, Event: event}
	encoded, err := api.EncodeEvent(envelope)
	if err != nil {
		s.logger.Error("encoding an event", "session", s.sessionID, "type", event.EventType(), "error", err)
		return
	}
	s.live.Apply(event)
	s.ring.Add(envelope, len(encoded))
	for subscriber := range s.subscribers {
		subscriber.Deliver(envelope, encoded)
	}
}

// missed returns the events after those that an entry has seen; false if the ring does not
// hold all of them, or the anchors are those of another epoch.
func (s *stream) missed(from api.Anchors) ([]api.EventEnvelope, bool) {
	if from.Epoch != s.epoch {
		return nil, false
	}
	return s.ring.After(from.StreamLastSeq, s.seq+1)
}

// watched reports whether a subscriber may give answers that need the grant.
func (s *stream) watched(grant api.Grant) bool {
	for subscriber, grants := range s.subscribers {
		if !subscriber.Away() && slices.Contains(grants, grant) && subscriber.May(grant) {
			return true
		}
	}
	return false
}
