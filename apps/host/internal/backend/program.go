package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/packages/acp"
)

// program is a running agent, with at most one session. Its methods are called by one turn at a
// time, and end by any goroutine.
type program struct {
	definition Definition
	agent      acp.Agent
	link       *link
	cmd        *exec.Cmd
	forget     func()
	stderr     *tail
	exited     chan struct{} // closed after the process has ended
	ending     sync.Once
	ended      chan struct{} // closed when nothing of it is left

	session string // of the agent; "" before it has one
	state   acp.SessionState
}

// maxStderr is how much of the end of a program's standard error is kept. It is shown by a test
// of the backend only, and never logged or stored: programs may print what is secret.
const maxStderr = 4 << 10

// starter starts programs.
type starter struct{ Options }

// start starts a program for a session and connects to it. Its process lives until end.
func (s starter) start(ctx context.Context, d Definition, sessionID, dir string) (*program, error) {
	path := d.Path()
	if path == "" {
		return nil, missing(d)
	}
	argv := append([]string{path}, d.Args...)
	switch {
	case d.Sandbox && s.Confine != nil:
		argv = s.Confine(argv, dir, d.Writable...)
	case s.Supervise != nil:
		argv = s.Supervise(argv)
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // the command is of the owner's configuration
	cmd.Dir, cmd.Env = dir, d.Environ(s.Environ())
	p := &program{definition: d, cmd: cmd, stderr: &tail{}, exited: make(chan struct{}), ended: make(chan struct{}), link: newLink()}
	in, out, err := p.pipes()
	if err != nil {
		return nil, err
	}
	if p.forget, err = s.Ledger.Start(cmd, procgroup.Owner{Session: sessionID}); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", d.Command, err), in.Close(), out.Close())
	}
	closeChildEnds(cmd)
	go func() {
		_ = cmd.Wait() // its state is read after exited
		close(p.exited)
	}()
	p.agent, err = acp.Connect(ctx, in, out, p.link, acp.Options{}, initialize(s.Version))
	if err != nil {
		err = p.why(ctx, err)
		p.end()
		return nil, fmt.Errorf("%s did not start: %w", d.title(), err)
	}
	return p, nil
}

func missing(d Definition) error {
	if d.Install == "" {
		return fmt.Errorf("%s is not installed: %q is not a program in PATH. Install it, or correct its command in config.toml", d.title(), d.Command)
	}
	return fmt.Errorf("%s is not installed on this machine. Install it with: %s", d.title(), d.Install)
}

func (d Definition) title() string {
	if d.Title != "" {
		return d.Title
	}
	return d.Name
}

// initialize offers neither files nor terminals: the program is on the same machine.
func initialize(version string) acp.InitializeRequest {
	return acp.InitializeRequest{
		ProtocolVersion: acp.Version1,
		ClientInfo:      &acp.Implementation{Name: "scorel", Title: "scorel", Version: cmp.Or(version, "dev")},
		ClientCapabilities: acp.ClientCapabilities{
			Session:     &acp.ClientSession{Compaction: &acp.Empty{}, Notices: &acp.Empty{}, ConfigOptions: &acp.ConfigOptionSupport{Boolean: &acp.Empty{}}},
			Elicitation: &acp.ClientElicitation{Form: &acp.Empty{}, URL: &acp.Empty{}},
		},
	}
}

// pipes connects the program. They are files, so that Wait does not wait for what the program
// leaves running, which may hold them open.
func (p *program) pipes() (in io.ReadCloser, out io.WriteCloser, err error) {
	childIn, out, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("connecting a backend: %w", err)
	}
	in, childOut, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("connecting a backend: %w", err), childIn.Close(), out.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, p.stderr
	p.cmd.WaitDelay = EndGrace // for standard error
	return in, out, nil
}

func closeChildEnds(cmd *exec.Cmd) {
	for _, end := range []any{cmd.Stdin, cmd.Stdout} {
		if file, ok := end.(*os.File); ok {
			_ = file.Close() // the child has its own
		}
	}
}

// why adds to an error of the connection how the program ended, if it did.
func (p *program) why(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("it did not answer within %v", StartTimeout)
	}
	var sent *acp.Error
	if errors.As(err, &sent) {
		return p.explain(sent)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	timer := time.NewTimer(EndGrace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return fmt.Errorf("the program ended unexpectedly (%s)", p.cmd.ProcessState)
	case <-timer.C:
		return errors.New("the program closed its connection")
	}
}

// explain says what to do about an error that the agent sent.
func (p *program) explain(err *acp.Error) error {
	if err.Code == acp.CodeAuthRequired {
		return fmt.Errorf("%s needs a login. Run this on the machine: scorel backend login %s", p.definition.title(), p.definition.Name)
	}
	return err
}

// alive reports whether the program can be used.
func (p *program) alive() bool {
	select {
	case <-p.exited:
		return false
	case <-p.agent.Conn().Ended():
		return false
	default:
		return true
	}
}

// end ends the program with everything that it started, and returns when nothing is left of it.
// Several goroutines may call it.
func (p *program) end() {
	p.ending.Do(func() {
		defer close(p.ended)
		p.link.close()
		procgroup.Terminate(p.cmd, p.exited, EndGrace)
		procgroup.Kill(p.cmd) // what the program left running
		if p.agent != nil {
			_ = p.agent.Conn().Close()
		}
		<-p.exited
		p.forget()
	})
	<-p.ended
}

// kill ends a program that does not react.
func (p *program) kill() {
	procgroup.Kill(p.cmd)
	p.end()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text = append(t.text, data...); len(t.text) > maxStderr {
		t.text = append([]byte(nil), t.text[len(t.text)-maxStderr:]...)
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
