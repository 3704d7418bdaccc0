package testdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// keeper is a child process that ends, with everything it started, when pipe
// closes. The kernel closes it if this process panics or is killed.
type keeper struct {
	pipe   *os.File
	output *os.File // its output, until the deadline of its context
	lines  *bufio.Reader
}

// keep starts cmd as a keeper. It is not waited for, since it outlives this process
// by a moment; files instead of buffers mean that no goroutine serves it.
func keep(ctx context.Context, cmd *exec.Cmd, stderr *os.File) (*keeper, error) {
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	output, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), pipe.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	ownGroup(cmd)
	err = cmd.Start()
	_, _ = stdin.Close(), stdout.Close() // the child has its own copies
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", cmd.Path, err), pipe.Close(), output.Close())
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = output.SetReadDeadline(deadline) // without one a start that hangs is ended by the test's own timeout
	}
	return &keeper{pipe: pipe, output: output, lines: bufio.NewReader(output)}, cmd.Process.Release()
}

// tell sends the child a command and returns its answer line.
func (k *keeper) tell(command string) (string, error) {
	if err := k.output.SetReadDeadline(time.Now().Add(readyTimeout)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(k.pipe, command); err != nil {
		return "", err
	}
	return k.line()
}

// line returns the child's next line.
func (k *keeper) line() (string, error) {
	line, err := k.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}

// poll calls try until it succeeds or ctx ends, and returns its last error: not that of a
// try which ctx ended, unless there was no other.
func poll(ctx context.Context, every time.Duration, try func(context.Context) error) (last error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-ticker.C:
		}
	}
}
