package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

// killGrace is how long a server may take to exit after its input was closed, and again
// after it was asked to exit.
const killGrace = time.Second

// childProcess is a server that runs as a child process, in its own process group. A
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

// start runs a command, recorded under owner. The error is part of a sentence for people.
func start(d definition, folder string, wrap func(argv []string, dir string) []string, env []string, ledger *procgroup.Ledger, owner procgroup.Owner) (*childProcess, error) {
	dir := folder
	switch {
	case filepath.IsAbs(d.Cwd):
		dir = d.Cwd
	case d.Cwd != "": // relative to the project, wherever the host was started
		dir = filepath.Join(folder, d.Cwd)
	}
	if err := checkProgram(d.Command, dir, env); err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	argv := wrap(append([]string{d.Command}, d.Args...), dir)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = env
	cmd.WaitDelay = killGrace // do not wait for a grandchild that keeps the pipe open
	p := &childProcess{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.errors
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	// We create the pipe: the command's own would be closed while its last output is still
	// in it.
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

// checkProgram returns an error for a program that does not exist. The sandbox, which starts it, could
// only say that it failed.
func checkProgram(name, dir string, env []string) error {
	if runtime.GOOS == "windows" { // no sandbox is between, and names have no ending there
		return nil
	}
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no program %s", name)
		}
		return nil
	}
	for _, variable := range slices.Backward(env) { // the last one counts
		list, found := strings.CutPrefix(variable, "PATH=")
		if !found {
			continue
		}
		for _, folder := range filepath.SplitList(list) {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				return nil
			}
		}
		return fmt.Errorf("there is no program %s in the PATH of the host", name)
	}
	return nil
}

// own starts the child and waits for it to exit.
func (p *childProcess) own(write *os.File, started chan<- error, ledger *procgroup.Ledger, owner procgroup.Owner) {
	defer close(p.ended)
	// The kernel sends the parent-death signal when the parent's thread exits, so the
	// thread must not change between start and wait.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	p.forget, err = ledger.Start(p.cmd, owner)
	_ = write.Close() // the child has its own copy
	started <- err
	if err != nil {
		_ = p.output.Close()
		return
	}
	_ = p.cmd.Wait() // its last output says how it ended
}

// stop closes the input, which asks a server to exit, then kills it, and leaves no process
// of the group behind.
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
		<-p.ended
		p.forget()
		_ = p.output.Close()
	})
	<-p.ended
}

// lastLines keeps the end of a server's error output.
type lastLines struct {
	mu   sync.Mutex
	data []byte
}

// maxLastLines bounds the kept output, in bytes.
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

// last returns the last non-blank line.
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
