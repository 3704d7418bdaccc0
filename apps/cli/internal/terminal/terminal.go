// Package terminal interacts with the person at the command line: it asks questions, draws
// QR codes and opens a browser.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// IsTerminal reports whether stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Size returns the size of a terminal in characters; 0, 0 if stream is not a terminal.
func Size(stream any) (columns, rows int) {
	file, ok := stream.(*os.File)
	if !ok {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Asker asks questions on one terminal. Its methods are safe for concurrent use, one
// question at a time.
type Asker struct {
	in  io.Reader
	out io.Writer

	once  sync.Once
	lines chan line
}

type line struct {
	text string
	err  error
}

// NewAsker returns an Asker that reads answers from in and writes questions to out.
func NewAsker(in io.Reader, out io.Writer) *Asker {
	return &Asker{in: in, out: out, lines: make(chan line)}
}

// Ask asks a yes-or-no question. Everything but a yes means no, including the end of the
// input. If ctx ends first, the question is withdrawn.
func (a *Asker) Ask(ctx context.Context, question string) (bool, error) {
	answer, err := a.Line(ctx, question+" [y/N] ")
	return err == nil && isYes(answer), err
}

// Line asks a question that is answered with a line of text. The end of the input is an
// empty answer. If ctx ends first, the question is withdrawn.
func (a *Asker) Line(ctx context.Context, question string) (string, error) {
	a.once.Do(func() { go a.readLoop() })
	if _, err := fmt.Fprint(a.out, question); err != nil {
		return "", fmt.Errorf("asking: %w", err)
	}
	select {
	case answer := <-a.lines:
		if answer.err != nil && !errors.Is(answer.err, io.EOF) {
			return "", fmt.Errorf("reading the answer: %w", answer.err)
		}
		return answer.text, nil
	case <-ctx.Done():
		_, _ = fmt.Fprintln(a.out) // ends the question's line
		return "", context.Cause(ctx)
	}
}

// readLoop delivers one line per question. A read from a terminal cannot be interrupted, so
// the goroutine may outlive the last question; it ends with the input, or at the latest
// with the process.
func (a *Asker) readLoop() {
	reader := bufio.NewReader(a.in)
	for {
		text, err := reader.ReadString('\n')
		a.lines <- line{text, err}
		if err != nil {
			close(a.lines)
			return
		}
	}
}

func isYes(text string) bool {
	answer := strings.ToLower(strings.TrimSpace(text))
	return answer == "y" || answer == "yes"
}
