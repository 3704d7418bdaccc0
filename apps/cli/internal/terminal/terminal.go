// Package terminal is what the command line does with the person in front of it:
// it asks, draws a QR code and opens a browser.
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

// IsTerminal tells whether stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Asker asks questions on one terminal. Its methods may be called from any
// goroutine, one question at a time.
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

// NewAsker prepares to read answers from in and to write questions to out.
func NewAsker(in io.Reader, out io.Writer) *Asker {
	return &Asker{in: in, out: out, lines: make(chan line)}
}

// Ask asks a question that is answered with y or n. Everything but a yes is a
// no, and so is the end of the input. When ctx ends first, the question is
// withdrawn.
func (a *Asker) Ask(ctx context.Context, question string) (bool, error) {
	answer, err := a.Line(ctx, question+" [y/N] ")
	return err == nil && isYes(answer), err
}

// Line asks a question that is answered with a line. The end of the input is an
// empty one. When ctx ends first, the question is withdrawn.
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
		_, _ = fmt.Fprintln(a.out) // the question's line ends here
		return "", context.Cause(ctx)
	}
}

// readLoop hands over one line per question. A read from a terminal cannot be
// interrupted, so the goroutine may outlive the last question; it ends with the
// input, at the latest with the process.
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
