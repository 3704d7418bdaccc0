package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Given is an entry that has an id and a time already.
type Given struct {
	ID string
	At time.Time // zero is the session's clock
	// Encode builds the line with a method of the writer.
	Encode func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error)
}

// AppendGiven adds an entry with its own id and time. session.ErrTaken if the id is in use.
func (s *Session) AppendGiven(ctx context.Context, mark Mark, g Given) (session.Entry, error) {
	if err := s.writable(); err != nil {
		return session.Entry{}, err
	}
	return s.store(ctx, g.ID, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		if !g.At.IsZero() {
			stamp.Timestamp = session.FormatTime(g.At)
		}
		return g.Encode(w, stamp)
	})
}
