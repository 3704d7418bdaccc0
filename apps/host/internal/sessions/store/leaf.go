package store

import (
	"context"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// SwitchLeaf moves the leaf to an entry, so that the next one hangs on it, and
// stores the move as an entry of ours (session.CustomLeaf) that hangs there: the
// leaf is the last entry of the file, for us and for Pi, so only an entry can keep
// it. The path to the target must be whole; the error is a *session.PathError.
func (s *Session) SwitchLeaf(ctx context.Context, mark Mark, id string) (session.Entry, error) {
	if id == "" {
		return session.Entry{}, &session.PathError{Err: session.ErrNoEntry, ID: id}
	}
	return s.move(ctx, mark, id)
}

// ResetLeaf moves the leaf before the first entry: the next one is a root beside
// what is there.
func (s *Session) ResetLeaf(ctx context.Context, mark Mark) (session.Entry, error) {
	return s.move(ctx, mark, "")
}

func (s *Session) move(ctx context.Context, mark Mark, target string) (session.Entry, error) {
	if err := s.movable(target); err != nil {
		return session.Entry{}, err
	}
	record := session.LeafRecord{From: s.Tree().Leaf()}
	return s.store(ctx, s.freeID(), mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		data, err := session.Encode(record)
		if err != nil {
			return nil, err
		}
		if err := w.Tree().Branch(target); err != nil {
			return nil, err
		}
		return w.Custom(stamp, session.CustomLeaf, data)
	})
}

// movable tells whether entries may be hung on target.
func (s *Session) movable(target string) error {
	if what := Damage(s.file); what != "" {
		return &DamageError{What: what}
	}
	return s.Tree().CheckPath(target)
}

// Branched makes a new session below a project that holds the path to leaf and
// nothing else (session.Tree.Branched), and opens it. Prompts that wait stay where
// they are: a queue on the path is not copied. header is that of the new session;
// its ParentSession says where it comes from.
func (s *Session) Branched(ctx context.Context, to Provider, projectID string, header session.Header, leaf string) (*Session, error) {
	queue := func(e session.Entry) bool { return e.Type == session.TypeCustom && e.CustomType == session.CustomQueue }
	lines, err := s.Tree().Branched(leaf, queue, s.freeID)
	if err != nil {
		return nil, err
	}
	first, err := session.EncodeHeader(header)
	if err != nil {
		return nil, err
	}
	log, err := to.Create(ctx, projectID, first, lines...)
	if err != nil {
		return nil, err
	}
	return NewSession(log, WithClock(s.now), WithIDs(s.newID)), nil
}
