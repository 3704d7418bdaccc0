package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Session is an open session: its tree, and all ways to extend it. An entry is stored before it
// is added to the tree; after an error the tree is unchanged. Stored entries never change. One
// goroutine at a time uses it.
type Session struct {
	log     Log
	now     func() time.Time
	newID   func() string
	file    *session.File
	writer  *session.Writer
	hole    error // a *session.PathError while the path to the leaf has a hole
	lastSeq uint64
	sign    Signer              // nil signs nothing
	chain   *session.ChainValue // of the last line; nil until it is needed
}

// Option configures a Session.
type Option func(*Session)

// WithClock sets the clock for timestamps of entries; the default is time.Now.
func WithClock(now func() time.Time) Option { return func(s *Session) { s.now = now } }

// WithIDs sets the source of entry ids; the default is random. It is called again if an id is
// taken.
func WithIDs(newID func() string) Option { return func(s *Session) { s.newID = newID } }

// Signer signs a message of session.HeadMessage with the keys of the host.
type Signer func(message []byte) session.Head

// WithSigner signs entries that are not steps of a turn; see Mark.Step.
func WithSigner(sign Signer) Option { return func(s *Session) { s.sign = sign } }

// NewSession takes ownership of an open log.
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

// Tree returns the session's tree. The caller must not add to it.
func (s *Session) Tree() *session.Tree { return s.writer.Tree() }

// LastSeq returns the largest seq of the session; entries without one are counted
// (session.Tree.Number).
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

// Trouble says why a file that was read could not be extended, or is "": its damage, or a hole
// in the path to its leaf.
func Trouble(f *session.File) string {
	if what := Damage(f); what != "" {
		return what
	}
	if err := holeError(f.Tree.CheckPath(f.Tree.Leaf())); err != nil {
		return err.What
	}
	return ""
}

// Damage says why a file cannot be written to, or is "". An incomplete last line is no damage,
// because it was never acknowledged.
func Damage(f *session.File) string {
	if n := len(f.Damage); n > 1 || n == 1 && !f.Torn {
		return fmt.Sprintf("line %d: %s", f.Damage[0].Line, f.Damage[0].What)
	}
	if f.Header.Version > session.Version {
		return fmt.Sprintf("it was written by a newer program: the file has version %d, this program supports version %d", f.Header.Version, session.Version)
	}
	entries := f.Tree.Entries()
	if n := len(entries); n > 0 && f.Tree.Leaf() == "" && entries[n-1].ID == "" {
		return "the last entry has no id"
	}
	return ""
}

// Close releases the session.
func (s *Session) Close() error { return s.log.Close() }

// Mark holds the members that scorel adds after Pi's. Zero fields are left out.
type Mark struct {
	Seq       uint64 `json:"seq,omitempty"`
	ClientID  string `json:"clientId,omitempty"`
	ClientKey string `json:"clientKey,omitempty"`
	TurnID    string `json:"turnId,omitempty"`
	Steer     bool   `json:"steer,omitempty"`
	MaxMode   string `json:"maxMode,omitempty"`
	// Step means that more entries of the same turn follow. A later entry is signed, and its
	// signature covers this one.
	Step bool `json:"-"`
}

func (m Mark) extra() (json.RawMessage, error) {
	if m.Step = false; m == (Mark{}) {
		return nil, nil
	}
	return session.Encode(m)
}

// lineBuilder builds the line of a new entry and adds it to the writer's tree.
type lineBuilder func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error)

// add builds an entry, stores it, and returns it.
func (s *Session) add(ctx context.Context, mark Mark, build lineBuilder) (session.Entry, error) {
	if err := s.writable(); err != nil {
		return session.Entry{}, err
	}
	return s.store(ctx, s.freeID(), mark, build)
}

// maxWritten is how deep a new line may nest: a value of exactjson.MaxDepth and the levels of
// the line around it.
const maxWritten = exactjson.MaxDepth + 16

// store is add with a given id.
func (s *Session) store(ctx context.Context, id string, mark Mark, build lineBuilder) (session.Entry, error) {
	extra, err := mark.extra()
	if err != nil {
		return session.Entry{}, err
	}
	count, leaf := len(s.Tree().Entries()), s.Tree().Leaf()
	l := s.linker(mark.Step)
	line, err := build(s.writer, session.Stamp{ID: id, Timestamp: session.FormatTime(s.now()), Extra: extra, Link: l.link})
	if err == nil && exactjson.DeeperThan(line, maxWritten) {
		err = fmt.Errorf("store: a line nested more than %d deep is not written, because it could not be read back", maxWritten)
	}
	if err == nil {
		err = s.log.Append(ctx, line)
	}
	if err != nil {
		return session.Entry{}, errors.Join(err, s.undo(count, leaf))
	}
	s.lastSeq = s.Tree().Number(count, s.lastSeq)
	s.hole, s.chain = nil, &l.value
	return s.Tree().Entries()[count], nil
}

// undo removes an entry that was not stored from the tree.
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
		if _, taken := s.Tree().Get(id); !taken {
			return id
		}
	}
}
