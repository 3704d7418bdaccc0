package mcp

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

// killGrace is how long a server may take to end when its input was closed, and
// once more when it was asked to.
const killGrace = time.Second

// childProcess is a server that runs as a child, in a process group of its own. A
// goroutine owns it; stop ends it with its children and waits.
type childProcess struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	output *os.File
	errors lastLines
	ended  chan struct{} // closed when the child has ended
	forget func()        // its note in the ledger; set before start returns

	stopOnce sync.Once
}

// start runs a command, noted as that of owner. The error is a sentence part for people.
func start(d definition, folder string, env []string, ledger *procgroup.Ledger, owner procgroup.Owner) (*childProcess, error) {
	cmd := exec.Command(d.Command, d.Args...)
	cmd.Dir = folder
	switch {
	case filepath.IsAbs(d.Cwd):
		cmd.Dir = d.Cwd
	case d.Cwd != "": // of the project, wherever the host was started
		cmd.Dir = filepath.Join(folder, d.Cwd)
	}
	cmd.Env = env
	cmd.WaitDelay = killGrace // a grandchild that keeps the pipe open does not hold us up
	p := &childProcess{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.errors
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	// The pipe is ours: that of the command would be closed while its last words
	// are still in it.
	output, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	cmd.Stdout, p.input, p.output = write, input, output
	started := make(chan error)
	go p.own(write, started, ledger, owner)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	return p, nil
}

// own starts the child and waits for its end.
func (p *childProcess) own(write *os.File, started chan<- error, ledger *procgroup.Ledger, owner procgroup.Owner) {
	defer close(p.ended)
	// The signal that a dying parent sends comes when its thread dies, so the
	// thread must not change between start and wait.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	p.forget, err = ledger.Start(p.cmd, owner)
	_ = write.Close() // the child has its own
	started <- err
	if err != nil {
		_ = p.output.Close()
		return
	}
	_ = p.cmd.Wait() // how it ended is told by what it wrote
}

// stop closes the input, which asks a server to end, insists, and leaves no
// process of the group behind.
func (p *childProcess) stop() {
	p.stopOnce.Do(func() {
		_ = p.input.Close()
		timer := time.NewTimer(killGrace)
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
			procgroup.Terminate(p.cmd, p.ended, killGrace)
		}
		procgroup.Kill(p.cmd)
		p.forget()
		<-p.ended
		_ = p.output.Close()
	})
	<-p.ended
}

// lastLines keeps the end of what a server writes to its error output.
type lastLines struct {
	mu   sync.Mutex
	data []byte
}

// maxLastLines bounds what is kept, in bytes.
const maxLastLines = 4 << 10

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	if n := len(l.data); n > maxLastLines {
		l.data = append([]byte(nil), l.data[n-maxLastLines:]...)
	}
	return len(p), nil
}

// last returns the last line that says something.
func (l *lastLines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(bytes.TrimSpace(l.data)), "\uFFFD")), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if runes := []rune(line); len(runes) > 200 {
		line = string(runes[:200]) + "..."
	}
	return line
}
