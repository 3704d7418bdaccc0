// Package store is the contract between the sessions of a host and what keeps
// them. A Provider keeps many sessions; a Log is one of them, open for writing. A
// session is a header and lines, in the order in which they were appended; the
// line is the truth, and every provider gives it back byte for byte
// (docs/session-format.md).
//
// Providers stay small: they create, open, read, list, delete and append. All that
// a session means (tree, leaf, messages, compactions, branches) is in Session,
// which works over any Log. The suite in storetest is the contract as code; a
// provider that passes it can hold sessions.
//
// What a provider promises:
//
//   - Append is durable and all or nothing: when it returns nil the lines are there
//     after a crash, and after any other outcome none of them counts.
//   - A session is open for writing once. A second opening, in this process or in
//     another, is refused with an *InUseError that names who has it.
//   - Reading takes no lock, changes nothing, and sees a state that was whole: some
//     number of acknowledged appends, and never part of one.
//   - What does not read is reported, kept, and never written over.
//   - Errors are those of errors.go, wrapped with what was being done.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Provider keeps sessions. It is safe for concurrent use.
type Provider interface {
	// Create makes a session below a project and opens it, with a header line and
	// any number of entry lines in one step: after a crash it is there as a whole or
	// not at all. The header is taken as it is, so that a copy loses nothing; its id
	// is the session's. ErrExists where this provider has a session of that id,
	// whatever the project; ErrBadName where the id or the project cannot be stored;
	// ErrBadLine where a line is none, or the header is not of session.Version.
	Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (Log, error)
	// Open opens a session for writing. What an older version of the format wrote is
	// brought to the newest, and the old form kept aside. Damage is no error: see
	// Log.Append. ErrNotFound, *InUseError.
	Open(ctx context.Context, id string) (Log, error)
	// Read reads a session as it is now, open or not. ErrNotFound.
	Read(ctx context.Context, id string) (*session.File, error)
	// List tells of every session, in no order. What cannot be listed is left out,
	// with a note in the log.
	List(ctx context.Context) ([]Info, error)
	// Export returns a session as the bytes of its file, each line as it is, with the
	// project that it is below. ErrNotFound.
	Export(ctx context.Context, id string) (projectID string, data []byte, err error)
	// Import stores a session from such bytes, or from a file of Pi's, as a whole or
	// not at all. Lines that do not read are stored too; see Split for the rest and
	// the errors. ErrExists and ErrBadName are those of Create.
	Import(ctx context.Context, projectID string, data []byte) error
	// Delete takes a session away for good. ErrNotFound, *InUseError.
	Delete(ctx context.Context, id string) error
	// Close ends the provider. The logs are closed before.
	Close() error
}

// Locator is a Provider that may keep sessions in files.
type Locator interface {
	// Locate returns the path of a session's file, or its id where it is in none.
	// ErrNotFound.
	Locate(ctx context.Context, id string) (string, error)
}

// Info is what a list tells of a session.
type Info struct {
	Header    session.Header
	ProjectID string
	Modified  time.Time // of the last append, as far as the provider knows
	// Revision changes with every append, so that what was derived from a session
	// need not be derived again while it is the same.
	Revision string
}

// Log is one session that is open for writing. One goroutine at a time uses it.
type Log interface {
	// File is the session as it was when it was opened. The caller owns it and may
	// add to its tree. Entries point into memory that stays.
	File() *session.File
	// Append stores lines, in order, in one durable step. A line is a JSON object
	// without LF. An ended ctx may keep the step from beginning and does not cut it.
	//
	// ErrDamaged: the session holds what does not read, and is not written to.
	// ErrFull, ErrReadOnly: nothing was stored, and a later call may succeed.
	// ErrBadLine: one of the lines is none.
	// ErrLost: the provider cannot tell what was stored; open the session again.
	// ErrClosed: after Close.
	Append(ctx context.Context, lines ...json.RawMessage) error
	// Close gives the session free. A second Close does nothing.
	Close() error
}

// CheckLines refuses what is no line of an entry, for providers to begin with.
func CheckLines(lines []json.RawMessage) error {
	for i, line := range lines {
		if bytes.IndexByte(line, '\n') >= 0 {
			return fmt.Errorf("%w: line %d of %d has a line end", ErrBadLine, i+1, len(lines))
		}
		if _, err := session.ParseEntry(line); err != nil {
			return fmt.Errorf("%w: line %d of %d: %w", ErrBadLine, i+1, len(lines), err)
		}
	}
	return nil
}

// CheckHeader reads a header line that a session is to be created with.
func CheckHeader(line json.RawMessage) (session.Header, error) {
	header, err := session.ParseHeader(line)
	switch {
	case err != nil:
		return header, fmt.Errorf("%w: %w", ErrBadLine, err)
	case bytes.IndexByte(line, '\n') >= 0:
		return header, fmt.Errorf("%w: the header has a line end", ErrBadLine)
	case header.Version != session.Version:
		return header, fmt.Errorf("%w: the header is of version %d, new sessions are of version %d", ErrBadLine, header.Version, session.Version)
	}
	return header, CheckName(header.ID)
}

// CheckCreate is what Provider.Create begins with.
func CheckCreate(ctx context.Context, projectID string, header json.RawMessage, lines []json.RawMessage) (session.Header, error) {
	h, err := CheckHeader(header)
	if err == nil {
		err = errors.Join(CheckName(projectID), CheckLines(lines), ctx.Err())
	}
	if err != nil {
		err = fmt.Errorf("creating a session: %w", err)
	}
	return h, err
}

// maxName is the longest id of a session or a project, in bytes.
const maxName = 128

// CheckName refuses an id that could not be stored as a part of a name.
func CheckName(name string) error {
	ok := name != "" && len(name) <= maxName && name[0] != '.'
	for _, c := range []byte(name) {
		ok = ok && (c == '.' || c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if !ok {
		return fmt.Errorf("%w: %.140q", ErrBadName, name)
	}
	return nil
}
