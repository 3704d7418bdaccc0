package store

import (
	"context"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Tail is the part of a session after a mark.
type Tail struct {
	// File is the whole session if the mark is no longer valid or an unusual line follows;
	// otherwise nil.
	File *session.File
	// Entries are the entries after the mark, in order; nil with File.
	Entries []session.Entry
	// Mark is the argument of the next call; "" if it must read everything.
	Mark string
	// Revision is the session's revision in this state, as List returns it; "" if unknown.
	Revision string
}

// Tailer is a Provider that can read the end of a session without the rest.
type Tailer interface {
	// Tail reads what was appended after a mark returned by an earlier call; "" means the
	// beginning. It reads as Provider.Read does. ErrNotFound.
	Tail(ctx context.Context, id, mark string) (Tail, error)
}

// ReadTail is Tail for any provider: without a Tailer it reads everything.
func ReadTail(ctx context.Context, provider Provider, id, mark string) (Tail, error) {
	if tailer, ok := provider.(Tailer); ok {
		return tailer.Tail(ctx, id, mark)
	}
	file, err := provider.Read(ctx, id)
	return Tail{File: file}, err
}
