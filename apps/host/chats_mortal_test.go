package host_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// killedChatEnv makes a copy of this test program a host with a chat, which dies when it is told to.
const killedChatEnv = "SCOREL_TEST_KILLED_CHAT"

// killedChatHost runs a host until it is killed. A number on the standard input has it kill itself
// at that step from then on: a change of a channel, or before and after one of a session.
func killedChatHost(home string) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var reached, at atomic.Int64
	step := func() {
		if reached.Add(1) == at.Load() {
			_ = self.Kill()
			select {} // until the signal is here
		}
	}
	cfg := host.Config{Home: home, NoRelay: true, Getenv: noEnv, Helper: program}
	host.Beneath(&cfg, func(p store.Provider) store.Provider { return mortal{p, step} })
	host.AtChatSteps(&cfg, step)
	h, err := host.New(context.Background(), cfg)
	if err != nil {
		return err
	}
	go func() {
		<-h.Ready()
		fmt.Println("ready")
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if n, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				at.Store(reached.Load() + n)
				fmt.Println("armed")
			}
		}
	}()
	return h.Run(context.Background())
}

// mortalChat is such a host as a process.
type mortalChat struct {
	t      *testing.T
	cmd    *exec.Cmd
	input  *os.File
	output *bufio.Reader
	dead   chan struct{} // closed when it has ended
	stderr strings.Builder
}

// beginChat starts a host, and returns when it is ready.
func beginChat(t *testing.T, program, home string) *mortalChat {
	t.Helper()
	input, mine, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m := &mortalChat{t: t, cmd: exec.Command(program, home), input: mine, dead: make(chan struct{})}
	m.cmd.Env = append(os.Environ(), killedChatEnv+"=1")
	m.cmd.Stdin, m.cmd.Stderr = input, &m.stderr
	output, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m.cmd.Stdout, m.output = out, bufio.NewReader(output)
	err = m.cmd.Start()
	_, _ = input.Close(), out.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(m.dead)
		_ = m.cmd.Wait()
	}()
	t.Cleanup(func() {
		m.kill()
		_, _ = mine.Close(), output.Close()
		if m.cmd.ProcessState.Exited() {
			t.Errorf("the host ended by itself: %s\n%s", m.cmd.ProcessState, m.stderr.String())
		}
	})
	m.hear("ready")
	return m
}

// hear reads a line.
func (m *mortalChat) hear(word string) {
	m.t.Helper()
	if line, err := m.output.ReadString('\n'); err != nil || strings.TrimSpace(line) != word {
		m.kill()
		m.t.Fatalf("the host says %q (%v), not %s\n%s", line, err, word, m.stderr.String())
	}
}

// arm has it kill itself at a step from now on.
func (m *mortalChat) arm(step int) {
	m.t.Helper()
	if _, err := fmt.Fprintln(m.input, step); err != nil {
		m.t.Fatal(err)
	}
	m.hear("armed")
}

// kill ends what is left of it.
func (m *mortalChat) kill() {
	_ = m.cmd.Process.Kill()
	<-m.dead
}
