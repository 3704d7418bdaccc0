package store

import (
	"context"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// SwitchLeaf moves the leaf to an entry, so that the next entry becomes its child, and records
// the move as an entry of its own there (session.CustomLeaf): the leaf is the last entry of the
// file, for Pi too, so only an entry can keep it. The path to the target must be complete; the
// error is a *session.PathError.
func (s *Session) SwitchLeaf(ctx context.Context, mark Mark, id string) (session.Entry, error) {
	if id == "" {
		return session.Entry{}, &session.PathError{Err: session.ErrNoEntry, ID: id}
	}
	return s.move(ctx, mark, id)
}

// ResetLeaf moves the leaf before the first entry: the next entry becomes another root.
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

// movable returns an error if target cannot have children.
func (s *Session) movable(target string) error {
	if what := Damage(s.file); what != "" {
		return &DamageError{What: what}
	}
	return s.Tree().CheckPath(target)
}

// Branched creates and opens a session of a project that contains only the path to leaf
// (session.Tree.Branched). Queued prompts stay in the original session: a queue on the path is
// not copied. header belongs to the new session; its ParentSession names the original, and its
// Origin, which Branched sets, the state of its chain. The new session has a chain of its own,
// whose last line is signed.
func (s *Session) Branched(ctx context.Context, to Provider, projectID string, header session.Header, leaf string) (*Session, error) {
	queue := func(e session.Entry) bool { return e.Type == session.TypeCustom && e.CustomType == session.CustomQueue }
	lines, err := s.Tree().Branched(leaf, queue, s.freeID)
	if err != nil {
		return nil, err
	}
	header.Origin = session.Origin{SessionID: s.Header().ID, EntryID: leaf, Chain: s.chainAt(leaf)}
	first, err := session.EncodeHeader(header)
	if err != nil {
		return nil, err
	}
	if err := s.chainAll(header.ID, first, lines); err != nil {
		return nil, err
	}
	log, err := to.Create(ctx, projectID, first, lines...)
	if err != nil {
		return nil, err
	}
	return NewSession(log, WithClock(s.now), WithIDs(s.newID), WithSigner(s.sign)), nil
}
