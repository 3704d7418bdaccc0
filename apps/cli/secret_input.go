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

// readSecret reads one line of at most limit bytes, without echo on a terminal.
func (a *app) readSecret(ctx context.Context, what, question string, limit int) (string, error) {
	return a.readSecretFrom(ctx, bufio.NewReader(io.LimitReader(terminal.Interruptible(ctx, a.stdin), int64(limit)+1)), what, question, limit)
}

// readSecretFrom is readSecret for several secrets, of which lines reads one after the other from
// the standard input.
func (a *app) readSecretFrom(ctx context.Context, lines *bufio.Reader, what, question string, limit int) (string, error) {
	var line string
	if in, ok := a.stdin.(*os.File); ok && terminal.IsTerminal(a.stdin) {
		fmt.Fprint(a.stderr, question)
		typed, err := terminal.Secret(ctx, in)
		fmt.Fprintln(a.stderr)
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
