// Package shell connects a terminal of this machine with a shell on the machine of a host.
package shell

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ErrLeft is the error of Run if the person left the shell, which keeps running.
var ErrLeft = errors.New("the shell was left")

const (
	leave = 0x1d // the key that leaves a shell: Ctrl+]
	eof   = 0x04 // the key that ends an input: Ctrl+D
)

// Shell receives the output of one terminal. Event is the handler of its client's events.
type Shell struct {
	// EndsWithInput has the end of an input that is no terminal end the shell, too.
	EndsWithInput bool

	mu      sync.Mutex
	id      string
	pending []output // not yet written; the host bounds it by api.TerminalWindow
	ended   *api.TerminalEnd
	changed chan struct{} // has room for one: something arrived
}

type output struct {
	offset int64
	data   []byte
}

// New returns a Shell without a terminal.
func New() *Shell { return &Shell{changed: make(chan struct{}, 1)} }

// Event takes output. It does not block.
func (s *Shell) Event(e api.EventEnvelope) {
	s.mu.Lock()
	switch event := e.Event.(type) {
	case api.TerminalOutput:
		if data, err := base64.StdEncoding.DecodeString(event.Data); err == nil && event.TerminalID == s.id {
			s.pending = append(s.pending, output{event.Offset, data})
		}
	case api.TerminalChanged:
		if event.Terminal.ID == s.id {
			s.ended = event.Terminal.Ended
		}
	}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// take returns what has arrived.
func (s *Shell) take() ([]output, *api.TerminalEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.pending
	s.pending = nil
	return out, s.ended
}

// Run shows a terminal on stdout and types what is read from stdin into it, until the shell ends,
// is left, or ctx or the connection ends.
func (s *Shell) Run(ctx context.Context, c *client.Client, id string, stdin io.Reader, stdout io.Writer) (api.TerminalEnd, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.id = id
	s.mu.Unlock()
	attached, err := client.Call(ctx, c, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: id})
	if err != nil {
		return api.TerminalEnd{}, err
	}
	restore, err := raw(stdin)
	if err != nil {
		return api.TerminalEnd{}, err
	}
	defer restore()
	sizes, stop := resized()
	defer stop()
	typed, failed := make(chan []byte), make(chan error, 1)
	// It ends with its reader, which nothing can interrupt: at the latest with the process.
	go func() { failed <- read(ctx, stdin, typed) }()
	if end := attached.Terminal.Ended; end != nil {
		s.Event(api.EventEnvelope{Event: api.TerminalChanged{Terminal: attached.Terminal}})
	}
	fit(ctx, c, id, stdout)
	return s.serve(ctx, c, id, stdout, typed, failed, sizes)
}

// serve moves output, input and sizes until the shell ends or is left.
func (s *Shell) serve(ctx context.Context, c *client.Client, id string, stdout io.Writer, typed <-chan []byte, failed <-chan error, sizes <-chan os.Signal) (api.TerminalEnd, error) {
	var end inputEnd
	for {
		select {
		case <-s.changed:
			if end, err := s.show(ctx, c, id, stdout); err != nil || end != nil {
				return valueOf(end), err
			}
			end.later()
		case data := <-typed:
			end.typed(data)
			if err := write(ctx, c, id, data); err != nil {
				return api.TerminalEnd{}, err
			}
		case err := <-failed:
			if err == nil && s.EndsWithInput {
				err = end.begin(ctx, c, id)
			}
			if err != nil {
				return api.TerminalEnd{}, err
			}
			failed = nil // without EndsWithInput, the shell decides when it ends
		case <-end.next:
			if err := end.write(ctx, c, id); err != nil {
				return api.TerminalEnd{}, err
			}
		case <-sizes:
			fit(ctx, c, id, stdout)
		case <-c.Done():
			return api.TerminalEnd{}, c.Err()
		case <-ctx.Done():
			return api.TerminalEnd{}, context.Cause(ctx)
		}
	}
}

func valueOf(end *api.TerminalEnd) api.TerminalEnd {
	if end == nil {
		return api.TerminalEnd{}
	}
	return *end
}

// show writes what has arrived and acknowledges it.
func (s *Shell) show(ctx context.Context, c *client.Client, id string, stdout io.Writer) (*api.TerminalEnd, error) {
	out, end := s.take()
	for _, each := range out {
		if _, err := stdout.Write(each.data); err != nil {
			return nil, fmt.Errorf("writing the output of the shell: %w", err)
		}
	}
	if n := len(out); n > 0 && end == nil {
		upTo := out[n-1].offset + int64(len(out[n-1].data))
		if _, err := client.Call(ctx, c, api.AckTerminal, api.AckTerminalRequest{TerminalID: id, Offset: upTo}); err != nil {
			return nil, err
		}
	}
	return end, nil
}

// write types into the terminal.
func write(ctx context.Context, c *client.Client, id string, data []byte) error {
	_, err := client.Call(ctx, c, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: id, Data: base64.StdEncoding.EncodeToString(data)})
	return err
}

// read passes on what is typed, until the key that leaves.
func read(ctx context.Context, stdin io.Reader, typed chan<- []byte) error {
	interactive := isTerminal(stdin)
	buffer := make([]byte, api.MaxTerminalInput/2)
	for {
		n, err := stdin.Read(buffer)
		data := bytes.Clone(buffer[:n])
		at := -1
		if interactive {
			at = bytes.IndexByte(data, leave)
		}
		if at >= 0 {
			data = data[:at]
		}
		if len(data) > 0 {
			select {
			case typed <- data:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case at >= 0:
			return ErrLeft
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading what is typed: %w", err)
		}
	}
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// raw has every key go to the shell, if stdin is a terminal.
func raw(stdin io.Reader) (restore func(), err error) {
	if !isTerminal(stdin) {
		return func() {}, nil
	}
	fd := int(stdin.(*os.File).Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	return func() { _ = term.Restore(fd, before) }, nil
}

// fit gives the shell the size of this terminal. One that does not get it wraps its lines
// elsewhere, which is no reason to end it.
func fit(ctx context.Context, c *client.Client, id string, stdout io.Writer) {
	if !isTerminal(stdout) {
		return
	}
	columns, rows, err := term.GetSize(int(stdout.(*os.File).Fd()))
	if err != nil || columns < 1 || rows < 1 {
		return
	}
	_, _ = client.Call(ctx, c, api.ResizeTerminal, api.ResizeTerminalRequest{
		TerminalID: id, Cols: min(columns, api.MaxTerminalSide), Rows: min(rows, api.MaxTerminalSide),
	})
}
