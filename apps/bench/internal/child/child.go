// Package child starts relays in processes of their own and asks what they use.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"github.com/scorel/scorel/apps/bench/internal/serve"
)

// Process is a running relay.
type Process struct {
	Ready serve.Ready

	cmd *exec.Cmd
	in  io.WriteCloser
	mu  sync.Mutex // one question at a time
	out *bufio.Reader
}

// Start runs this program again to serve a relay, and returns when it is ready.
func Start(ctx context.Context, kind string, opts serve.Options) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	cmd := exec.CommandContext(ctx, self, "serve", "-listen", opts.Listen, "-store", opts.Store, "-bus", opts.Bus,
		"-queue", strconv.Itoa(opts.Queue), "-cpus", strconv.Itoa(opts.CPUs), "-profile", opts.Profile, kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a relay of kind %s: %w", kind, err)
	}
	p := &Process{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if err := p.read(&p.Ready); err != nil {
		p.Kill()
		return nil, fmt.Errorf("starting a relay of kind %s: %w", kind, err)
	}
	return p, nil
}

func (p *Process) read(into any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the relay's process does not answer: %w", err)
	}
	return json.Unmarshal(line, into)
}

// Usage asks what the process has used. With settle it collects its garbage first.
func (p *Process) Usage(settle bool) (serve.Usage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	command := serve.CommandUsage
	if settle {
		command = serve.CommandSettle
	}
	var u serve.Usage
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return u, fmt.Errorf("asking the relay's process: %w", err)
	}
	return u, p.read(&u)
}

// Stop lets the relay end and waits for it.
func (p *Process) Stop() error {
	_ = p.in.Close() // the process ends with its input
	return p.cmd.Wait()
}

// Kill ends it at once, as kill -9 does, and waits for it.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // says that it was killed
}
