package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

const (
	// maxOutput bounds the output and the error output of a run, in bytes each.
	maxOutput = 64 << 10
	// killGrace is how long a hook may take to exit after it was asked to, and how long its
	// children may keep its output open.
	killGrace = time.Second
)

// ended is a run that ended by itself.
type ended struct {
	out, err []byte
	code     int
}

// execute runs a hook once and leaves no process of it behind. The error is for people.
func (m *Manager) execute(ctx context.Context, s spec, folder string, input []byte) (ended, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	defer cancel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		return ended{}, errors.New("it cannot be started, because there is no bash")
	}
	argv := m.wrap(s, []string{shell, "-c", s.Command}, folder)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = folder, bytes.NewReader(input), killGrace
	cmd.Env = append(m.options.Environ(), "SCOREL_PROJECT_DIR="+folder, "CLAUDE_PROJECT_DIR="+folder)
	if s.root != "" {
		cmd.Env = append(cmd.Env, "SCOREL_EXTENSION_ROOT="+s.root, "CLAUDE_PLUGIN_ROOT="+s.root)
	}
	flood := make(chan struct{})
	full := sync.OnceFunc(func() { close(flood) })
	out, errOut := &bounded{full: full}, &bounded{full: full}
	cmd.Stdout, cmd.Stderr = out, errOut
	c := child{cmd: cmd, started: make(chan error, 1), done: make(chan struct{})}
	go c.own(m, s, folder)
	if err := <-c.started; err != nil {
		return ended{}, fmt.Errorf("it cannot be started: %w", err)
	}
	var why error
	select {
	case <-c.done:
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-flood:
		why = errFlood
	}
	if why != nil {
		procgroup.Terminate(cmd, c.done, killGrace)
	}
	procgroup.Kill(cmd)
	<-c.done
	c.forget()
	switch {
	case errors.Is(why, errTimeout):
		return ended{}, fmt.Errorf("it did not end within %d s and was stopped", s.Seconds)
	case why != nil:
		return ended{}, why
	case out.over || errOut.over:
		return ended{}, errFlood
	case cmd.ProcessState == nil || !cmd.ProcessState.Exited():
		return ended{}, errors.New(withLast("it was killed", errOut.data))
	}
	return ended{out.data, errOut.data, cmd.ProcessState.ExitCode()}, nil
}

var (
	errTimeout = errors.New("it took too long")
	errFlood   = fmt.Errorf("it printed more than %d KiB and was stopped", maxOutput>>10)
)

// wrap returns the command line that runs argv as the hook is confined.
func (m *Manager) wrap(s spec, argv []string, folder string) []string {
	switch {
	case !s.unconfined && m.options.Sandbox != nil:
		return m.options.Sandbox(argv, folder)
	case m.options.Supervise != nil:
		return m.options.Supervise(argv)
	}
	return argv
}

// child is a running hook. The goroutine of own starts it and waits for it.
type child struct {
	cmd     *exec.Cmd
	started chan error
	done    chan struct{} // closed when it has ended
	forget  func()        // its note in the ledger; set before started receives nil
}

func (c *child) own(m *Manager, s spec, folder string) {
	defer close(c.done)
	// The kernel sends the parent-death signal when the parent's thread exits, so the
	// thread must not change between start and wait.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	forget, err := m.options.Ledger.Start(c.cmd, procgroup.Owner{Server: "hook " + s.id()})
	c.forget = forget
	c.started <- err
	if err == nil {
		_ = c.cmd.Wait() // the state of the process says how it ended
	}
}

// bounded keeps the beginning of an output and reports when there is more.
type bounded struct {
	data []byte
	over bool
	full func()
}

// Write accepts everything, so that a child that floods is stopped and not blocked.
func (b *bounded) Write(p []byte) (int, error) {
	room := maxOutput - len(b.data)
	b.data = append(b.data, p[:min(room, len(p))]...)
	if len(p) > room {
		b.over = true
		b.full()
	}
	return len(p), nil
}
