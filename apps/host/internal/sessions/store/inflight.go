package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// InFlight is a message that still grows. It has its id, and no place in the tree
// or the log until it is completed.
type InFlight struct {
	ID      string
	Message json.RawMessage
}

// BeginMessage holds an id for a message that is on its way, in memory only.
func (s *Session) BeginMessage(message json.RawMessage) (id string) {
	id = s.freeID()
	s.inFlight = append(s.inFlight, InFlight{id, message})
	return id
}

// UpdateMessage replaces a message in flight. ErrNotFound where none of that id is:
// what was completed is never changed.
func (s *Session) UpdateMessage(id string, message json.RawMessage) error {
	i := s.flight(id)
	if i < 0 {
		return fmt.Errorf("changing the message %q, which is not in flight: %w", id, ErrNotFound)
	}
	s.inFlight[i].Message = message
	return nil
}

// CompleteMessage appends a message in flight, as it was last, in one step. It hangs
// on what is the leaf now. After an error it is still in flight.
func (s *Session) CompleteMessage(ctx context.Context, mark Mark, id string) (session.Entry, error) {
	i := s.flight(id)
	if i < 0 {
		return session.Entry{}, fmt.Errorf("completing the message %q, which is not in flight: %w", id, ErrNotFound)
	}
	if err := s.writable(); err != nil {
		return session.Entry{}, err
	}
	entry, err := s.store(ctx, id, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Message(stamp, s.inFlight[i].Message)
	})
	if err == nil {
		s.inFlight = slices.Delete(s.inFlight, i, i+1)
	}
	return entry, err
}

// DiscardMessage forgets a message in flight; one that is not changes nothing.
func (s *Session) DiscardMessage(id string) {
	s.inFlight = slices.DeleteFunc(s.inFlight, func(f InFlight) bool { return f.ID == id })
}

// InFlight returns the messages in flight, in the order in which they began.
func (s *Session) InFlight() []InFlight { return slices.Clone(s.inFlight) }

func (s *Session) flight(id string) int {
	return slices.IndexFunc(s.inFlight, func(f InFlight) bool { return f.ID == id })
}

func (s *Session) isInFlight(id string) bool { return s.flight(id) >= 0 }
