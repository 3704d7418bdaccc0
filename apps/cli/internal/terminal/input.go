package terminal

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

// Interruptible returns a reader of in whose Read fails with the cause of ctx as soon as ctx ends.
// Without it, a command that waits for a person or a pipe cannot be interrupted. A read of in that
// has begun continues until the process ends, and what it returns is lost.
func Interruptible(ctx context.Context, in io.Reader) io.Reader {
	return &interruptible{ctx, in}
}

// ReadUpTo reads in to its end or until ctx ends. It stops one byte after limit, by which callers see
// that the input is longer.
func ReadUpTo(ctx context.Context, in io.Reader, limit int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(Interruptible(ctx, in), int64(limit)+1))
}

type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	buffer := make([]byte, len(p)) // p belongs to the caller again after an interrupt
	read := func() (int, error) { return r.in.Read(buffer) }
	n, err := untilDone(r.ctx, read)
	return copy(p, buffer[:n]), err
}

// Secret reads a line without echo. If ctx ends first, the terminal is as it was before.
func Secret(ctx context.Context, in *os.File) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	line, err := untilDone(ctx, func() ([]byte, error) { return term.ReadPassword(int(in.Fd())) })
	if ctx.Err() != nil {
		_ = term.Restore(int(in.Fd()), before)
	}
	return line, err
}

// untilDone returns what read returns, or the cause of ctx if that ends first.
func untilDone[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
