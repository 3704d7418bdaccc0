// Package store defines how the sessions of a host are stored. A Provider stores many
// sessions; a Log is one of them, open for writing. A session is a header and lines, in the
// order in which they were appended. Lines are authoritative, and every provider returns them
// byte for byte (docs/session-format.md).
//
// Providers stay small: they create, open, read, list, delete and append. What a session means
// (tree, leaf, messages, compactions, branches) is in Session, which works with any Log. The
// test suite in storetest is the contract as code; a provider that passes it can store
// sessions.
//
// A provider guarantees:
//
//   - Append is durable and atomic: when it returns nil the lines survive a crash, and
//     after an error none of them exists.
//   - A session is open for writing only once. Opening it again, in this process or in
//     another, fails with an *InUseError that names the holder.
//   - Reading takes no lock, changes nothing, and sees a consistent state: a number of
//     acknowledged appends, and never part of one.
//   - Lines that cannot be parsed are reported, kept, and never overwritten.
//   - Errors are those of errors.go, wrapped with the operation.
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

// Provider stores sessions. It is safe for concurrent use.
type Provider interface {
	// Create creates a session in a project and opens it, with a header line and any number of
	// entry lines in one step: after a crash it exists completely or not at all. The header is
	// stored as it is, so that a copy loses nothing; its id is the id of the session. ErrExists
	// if this provider has a session with that id in any project; ErrBadName if the id or the
	// project cannot be stored; ErrBadLine if a line is invalid or the header does not have
	// session.Version.
	Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (Log, error)
	// Open opens a session for writing. It migrates a session of an older version of the format
	// and keeps the old form aside. Damage is not an error here: see Log.Append. ErrNotFound,
	// *InUseError.
	Open(ctx context.Context, id string) (Log, error)
	// Read reads the current state of a session, open or not. ErrNotFound.
	Read(ctx context.Context, id string) (*session.File, error)
	// List lists all sessions, unordered. It logs and leaves out those that cannot be read.
	List(ctx context.Context) ([]Info, error)
	// Export returns a session as the content of its file, byte for byte, with its project.
	// ErrNotFound.
	Export(ctx context.Context, id string) (projectID string, data []byte, err error)
	// Import stores a session from such content, or from a Pi session file, completely or not
	// at all. It also stores lines that cannot be parsed; see Split for the rest and for the
	// errors. ErrExists and ErrBadName are those of Create.
	Import(ctx context.Context, projectID string, data []byte) error
	// Delete deletes a session permanently. ErrNotFound, *InUseError.
	Delete(ctx context.Context, id string) error
	// Close closes the provider. All logs must be closed before.
	Close() error
}

// Locator is a Provider that may store sessions in files.
type Locator interface {
	// Locate returns the path of a session's file, or its id if it is not in a file.
	// ErrNotFound.
	Locate(ctx context.Context, id string) (string, error)
}

// Incomplete is a Provider that may be temporarily unable to list some of its sessions.
type Incomplete interface {
	// Missing reports whether List left out sessions that may still exist.
	Missing() bool
}

// Info describes a session in a list.
type Info struct {
	Header    session.Header
	ProjectID string
	Modified  time.Time // of the last append, as far as the provider knows
	// Revision changes with every append, so that derived data can be reused while it is the
	// same.
	Revision string
}

// Log is one session that is open for writing. One goroutine at a time uses it.
type Log interface {
	// File is the session as it was when it was opened. The caller owns it and may add to its
	// tree. The memory of its entries stays valid.
	File() *session.File
	// Append stores lines, in order, in one durable step. A line is a JSON object without LF. A
	// canceled ctx may prevent the step but never interrupts it.
	//
	// ErrDamaged: the session is damaged and cannot be written to.
	// ErrFull, ErrReadOnly: nothing was stored, and a later call may succeed.
	// ErrBadLine: one of the lines is invalid.
	// ErrLost: it is unknown what was stored; open the session again.
	// ErrClosed: after Close.
	Append(ctx context.Context, lines ...json.RawMessage) error
	// Close releases the session. Closing again has no effect.
	Close() error
}

// CheckLines rejects lines that are not entries; implementations call it first.
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

// CheckHeader parses the header line of a new session.
func CheckHeader(line json.RawMessage) (session.Header, error) {
	header, err := session.ParseHeader(line)
	switch {
	case err != nil:
		return header, fmt.Errorf("%w: %w", ErrBadLine, err)
	case bytes.IndexByte(line, '\n') >= 0:
		return header, fmt.Errorf("%w: the header has a line end", ErrBadLine)
	case header.Version != session.Version:
		return header, fmt.Errorf("%w: the header has version %d, new sessions have version %d", ErrBadLine, header.Version, session.Version)
	}
	return header, CheckName(header.ID)
}

// CheckCreate makes the checks common to all implementations of Provider.Create.
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

// maxName bounds the id of a session or a project, in bytes.
const maxName = 128

// CheckName rejects an id that cannot be part of a name.
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
