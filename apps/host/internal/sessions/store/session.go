package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Session is an open session: its tree, and every way to add to it. An entry is
// stored before it is in the tree; after an error the tree is as before. What was
// stored is never changed. One goroutine at a time uses it.
type Session struct {
	log      Log
	now      func() time.Time
	newID    func() string
	file     *session.File
	writer   *session.Writer
	hole     error // a *session.PathError while the path to the leaf has a hole
	lastSeq  uint64
	inFlight []InFlight
}

// Option changes how a Session works.
type Option func(*Session)

// WithClock sets the clock that stamps entries; time.Now without it.
func WithClock(now func() time.Time) Option { return func(s *Session) { s.now = now } }

// WithIDs sets where ids of entries come from; random ones without it. An id that
// is taken is asked for again.
func WithIDs(newID func() string) Option { return func(s *Session) { s.newID = newID } }

// NewSession takes over an open log.
func NewSession(log Log, options ...Option) *Session {
	s := &Session{log: log, now: time.Now, newID: randomID, file: log.File()}
	for _, option := range options {
		option(s)
	}
	s.lastSeq = s.file.Tree.Number(0, 0)
	s.writer = session.NewWriter(s.file.Tree)
	s.hole = s.file.Tree.CheckPath(s.file.Tree.Leaf())
	return s
}

func randomID() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}

// Header returns the session's header.
func (s *Session) Header() session.Header { return s.file.Header }

// Tree returns the session's tree. The caller does not add to it.
func (s *Session) Tree() *session.Tree { return s.writer.Tree() }

// LastSeq returns the largest seq in the session; entries that name none are
// counted (session.Tree.Number).
func (s *Session) LastSeq() uint64 { return s.lastSeq }

// Damage says why nothing can be added, or "".
func (s *Session) Damage() string {
	if err := s.writable(); err != nil {
		return err.What
	}
	return ""
}

func (s *Session) writable() *DamageError {
	if what := Damage(s.file); what != "" {
		return &DamageError{What: what}
	}
	return holeError(s.hole)
}

func holeError(hole error) *DamageError {
	if hole == nil {
		return nil
	}
	return &DamageError{What: fmt.Sprintf("the path to the last entry is broken (%v)", hole), Err: hole}
}

// Trouble says why nothing could be added to a file that was read, or "": its
// damage, or a hole in the path to its leaf.
func Trouble(f *session.File) string {
	if what := Damage(f); what != "" {
		return what
	}
	if err := holeError(f.Tree.CheckPath(f.Tree.Leaf())); err != nil {
		return err.What
	}
	return ""
}

// Damage says what in a file keeps it from being written to, or "". A last line
// that was cut off is no damage: nobody was ever told of it.
func Damage(f *session.File) string {
	if n := len(f.Damage); n > 1 || n == 1 && !f.Torn {
		return fmt.Sprintf("line %d: %s", f.Damage[0].Line, f.Damage[0].What)
	}
	if f.Header.Version > session.Version {
		return fmt.Sprintf("it was written by a newer program: the file is of version %d, this one knows version %d", f.Header.Version, session.Version)
	}
	entries := f.Tree.Entries()
	if n := len(entries); n > 0 && f.Tree.Leaf() == "" && entries[n-1].ID == "" {
		return "the last entry has no id"
	}
	return ""
}

// Close gives the session free.
func (s *Session) Close() error { return s.log.Close() }

// Mark is what an entry of ours carries behind Pi's members. A zero field is left out.
type Mark struct {
	Seq       uint64 `json:"seq,omitempty"`
	ClientID  string `json:"clientId,omitempty"`
	ClientKey string `json:"clientKey,omitempty"`
	TurnID    string `json:"turnId,omitempty"`
	Steer     bool   `json:"steer,omitempty"`
}

func (m Mark) extra() (json.RawMessage, error) {
	if m == (Mark{}) {
		return nil, nil
	}
	return session.Encode(m)
}

// lineBuilder makes the line of a new entry and adds it to the writer's tree.
type lineBuilder func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error)

// add makes an entry, stores it, and returns it.
func (s *Session) add(ctx context.Context, mark Mark, build lineBuilder) (session.Entry, error) {
	if err := s.writable(); err != nil {
		return session.Entry{}, err
	}
	return s.store(ctx, s.freeID(), mark, build)
}

// store is add with the id, on whatever path.
func (s *Session) store(ctx context.Context, id string, mark Mark, build lineBuilder) (session.Entry, error) {
	extra, err := mark.extra()
	if err != nil {
		return session.Entry{}, err
	}
	count, leaf := len(s.Tree().Entries()), s.Tree().Leaf()
	line, err := build(s.writer, session.Stamp{ID: id, Timestamp: session.FormatTime(s.now()), Extra: extra})
	if err == nil {
		err = s.log.Append(ctx, line)
	}
	if err != nil {
		return session.Entry{}, errors.Join(err, s.undo(count, leaf))
	}
	s.lastSeq = s.Tree().Number(count, s.lastSeq)
	s.hole = nil
	return s.Tree().Entries()[count], nil
}

// undo takes what was not stored out of the tree again.
func (s *Session) undo(count int, leaf string) error {
	if entries := s.Tree().Entries(); len(entries) > count {
		s.file.Tree = session.NewTree(entries[:count])
		s.writer = session.NewWriter(s.file.Tree)
	}
	if s.Tree().Leaf() == leaf {
		return nil
	}
	return s.Tree().Branch(leaf)
}

func (s *Session) freeID() string {
	for {
		id := s.newID()
		if _, taken := s.Tree().Get(id); !taken && !s.isInFlight(id) {
			return id
		}
	}
}
