package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
)

// console is what a person at a command sees and types.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// confirm asks a question and ends the command unless the answer is yes. If no one can be
// asked, only --yes counts.
func (con console) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !terminal.IsTerminal(con.stdin) {
		return usagef("this needs confirmation: pass --yes, or run it in a terminal")
	}
	agreed, err := terminal.NewAsker(con.stdin, con.stderr).Ask(ctx, question)
	if err == nil && !agreed {
		err = sayf(errRefused, "nothing was done")
	}
	return err
}

// readSecret reads one line of at most limit bytes, without echo on a terminal.
func (con console) readSecret(ctx context.Context, what, question string, limit int) (string, error) {
	return con.readSecretFrom(ctx, bufio.NewReader(io.LimitReader(terminal.Interruptible(ctx, con.stdin), int64(limit)+1)), what, question, limit)
}

// readSecretFrom is readSecret for several secrets, of which lines reads one after the other from
// the standard input.
func (con console) readSecretFrom(ctx context.Context, lines *bufio.Reader, what, question string, limit int) (string, error) {
	var line string
	if in, ok := con.stdin.(*os.File); ok && terminal.IsTerminal(con.stdin) {
		fmt.Fprint(con.stderr, question)
		typed, err := terminal.Secret(ctx, in)
		fmt.Fprintln(con.stderr)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", what, err)
		}
		line = string(typed)
	} else {
		read, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading %s from standard input: %w", what, err)
		}
		line = read
	}
	if len(line) > limit {
		return "", usagef("%s is longer than %d bytes: give it as one line", what, limit)
	}
	return strings.TrimSpace(line), nil
}
