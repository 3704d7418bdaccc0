package shell

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// The pauses before Ctrl+D is typed again.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// inputEnd tells a shell that its input has ended. A pipe stays at its end, but in a terminal
// Ctrl+D ends one read only: that of a command, or none if the shell was busy. So it is typed
// again after each output, such as the next prompt, until the shell ends.
type inputEnd struct {
	begun bool
	last  byte // of what was typed
	pause time.Duration
	next  <-chan time.Time // when it is typed again; nil before there was output
}

func (e *inputEnd) typed(data []byte) { e.last = data[len(data)-1] }

// begin types the end for the first time, behind the last line.
func (e *inputEnd) begin(ctx context.Context, c *client.Client, id string) error {
	e.begun, e.pause = true, shortestPause
	if e.last != 0 && e.last != '\n' {
		if err := write(ctx, c, id, []byte("\n")); err != nil {
			return err
		}
	}
	return e.write(ctx, c, id)
}

// later has the end typed again, since there was output.
func (e *inputEnd) later() {
	if e.begun && e.next == nil {
		e.next = time.After(e.pause)
		e.pause = min(2*e.pause, longestPause)
	}
}

// write types the end. A shell that has ended refuses it, and reports its end by itself.
func (e *inputEnd) write(ctx context.Context, c *client.Client, id string) error {
	e.next = nil
	err := write(ctx, c, id, []byte{eof})
	if errors.As(err, new(*api.Error)) {
		return nil
	}
	return err
}
