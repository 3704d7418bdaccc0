package store

import (
	"context"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Tail is what a session holds behind a mark.
type Tail struct {
	// File is the whole session, where the mark named no place in it (any more) or
	// what follows is out of the ordinary; nil otherwise.
	File *session.File
	// Entries are those behind the mark, in order; nil with File.
	Entries []session.Entry
	// Mark is for the next call; "" where the next call must read all.
	Mark string
	// Revision is what List tells of the session in this state; "" where that is not known.
	Revision string
}

// Tailer is a Provider that can read the end of a session without the rest.
type Tailer interface {
	// Tail reads what was appended behind a mark that an earlier call gave; "" is the
	// beginning. It reads as Provider.Read does. ErrNotFound.
	Tail(ctx context.Context, id, mark string) (Tail, error)
}

// ReadTail is Tail for every provider: one that cannot do it reads all.
func ReadTail(ctx context.Context, provider Provider, id, mark string) (Tail, error) {
	if tailer, ok := provider.(Tailer); ok {
		return tailer.Tail(ctx, id, mark)
	}
	file, err := provider.Read(ctx, id)
	return Tail{File: file}, err
}
