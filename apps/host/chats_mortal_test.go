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
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// killedChatEnv makes a copy of this test program a host with a chat, which dies when it is told to.
const killedChatEnv = "SCOREL_TEST_KILLED_CHAT"

// The points of a message at which such a host can die.
const (
	pointReceived = "received" // it has arrived and is not stored
	pointStored   = "stored"   // it is stored and not acknowledged
	pointAnswered = "answered" // it was sent, and that is not stored
)

// mortality decides when a host dies.
type mortality struct {
	self    *os.Process
	reached atomic.Int64  // steps
	at      atomic.Int64  // the step that kills
	point   atomic.Value  // the point that kills
	stored  chan struct{} // holds a token after a change of the file of a channel
}

// killedChatHost runs a host until it is killed. A number on the standard input has it kill itself
// at that step from then on: a change of a channel, or before and after one of a session; 0 is no
// step. A point has it kill itself there. Both count from when no message waits to be sent, so that
// a step belongs to the next message and not to the one before.
func killedChatHost(home string) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	m := &mortality{self: self, stored: make(chan struct{}, 1)}
	cfg := host.Config{Home: home, NoRelay: true, Getenv: noEnv, Helper: program}
	host.Beneath(&cfg, func(p store.Provider) store.Provider { return mortal{p, m.step} })
	host.AtChatSteps(&cfg, func() {
		m.step()
		select {
		case m.stored <- struct{}{}:
		default:
		}
	})
	host.OpenPlatform(&cfg, m.open)
	h, err := host.New(context.Background(), cfg)
	if err != nil {
		return err
	}
	go func() {
		<-h.Ready()
		fmt.Println("ready")
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if err := m.arm(h, lines.Text()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			fmt.Println("armed")
		}
	}()
	return h.Run(context.Background())
}

func (m *mortality) arm(h *host.Host, when string) error {
	transport, err := client.DialDirect(context.Background(), h.State().Addr, h.State().Token)
	if err != nil {
		return err
	}
	c := client.New(transport, nil)
	defer func() { _ = c.Close() }()
	for {
		list, err := client.Call(context.Background(), c, api.ListChannels, api.Empty{})
		if err != nil {
			return err
		}
		if list.Channels[0].Waiting == 0 {
			break
		}
		<-m.stored
	}
	if n, err := strconv.ParseInt(when, 10, 64); err == nil {
		m.at.Store(m.reached.Load() + n)
	} else {
		m.point.Store(when)
	}
	return nil
}

func (m *mortality) step() {
	if m.reached.Add(1) == m.at.Load() {
		m.die()
	}
}

func (m *mortality) here(point string) {
	if m.point.Load() == point {
		m.die()
	}
}

func (m *mortality) die() {
	_ = m.self.Kill()
	select {} // until the signal is here
}

func (m *mortality) open(kind string, settings map[string]string, _ bool) (channel.Platform, error) {
	found, err := platforms.Find(kind)
	if err != nil {
		return nil, err
	}
	platform, err := found.Open(settings, nil)
	return mortalPlatform{Platform: platform, host: m}, err
}

// mortalPlatform is a platform with the points at which its host dies. It takes messages quickly, so
// that a test does not wait for its limits.
type mortalPlatform struct {
	channel.Platform
	host *mortality
}

func (p mortalPlatform) Limits() channel.Limits {
	limits := p.Platform.Limits()
	limits.Every = min(limits.Every, 100*time.Millisecond)
	return limits
}

func (p mortalPlatform) Run(ctx context.Context, cursor []byte, in channel.Inbound) error {
	return p.Platform.Run(ctx, cursor, mortalInbound{Inbound: in, host: p.host})
}

func (p mortalPlatform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	id, err := p.Platform.Send(ctx, chatID, m)
	if err == nil {
		p.host.here(pointAnswered)
	}
	return id, err
}

type mortalInbound struct {
	channel.Inbound
	host *mortality
}

func (i mortalInbound) Take(ctx context.Context, u channel.Update) error {
	if u.Message == nil {
		return i.Inbound.Take(ctx, u)
	}
	i.host.here(pointReceived)
	err := i.Inbound.Take(ctx, u)
	if err == nil {
		i.host.here(pointStored)
	}
	return err
}

// mortalChat is such a host as a process.
type mortalChat struct {
	t      *testing.T
	home   string
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
	m := &mortalChat{t: t, home: home, cmd: exec.Command(program, home), input: mine, dead: make(chan struct{})}
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

// dial connects a client, and returns it with a channel that holds a token after an event.
func (m *mortalChat) dial() (*client.Client, <-chan struct{}) {
	m.t.Helper()
	state, err := host.ReadState(m.home)
	if err != nil {
		m.t.Fatal(err)
	}
	transport, err := client.DialDirect(m.t.Context(), state.Addr, state.Token)
	if err != nil {
		m.t.Fatal(err)
	}
	events, signal := signals()
	c := client.New(transport, signal)
	m.t.Cleanup(func() { _ = c.Close() })
	return c, events
}

// hear reads a line.
func (m *mortalChat) hear(word string) {
	m.t.Helper()
	if line, err := m.output.ReadString('\n'); err != nil || strings.TrimSpace(line) != word {
		m.kill()
		m.t.Fatalf("the host says %q (%v), not %s\n%s", line, err, word, m.stderr.String())
	}
}

// arm has it kill itself at a step from now on, or at a point.
func (m *mortalChat) arm(when any) {
	m.t.Helper()
	if _, err := fmt.Fprintln(m.input, when); err != nil {
		m.t.Fatal(err)
	}
	m.hear("armed")
}

// kill ends what is left of it.
func (m *mortalChat) kill() {
	_ = m.cmd.Process.Kill()
	<-m.dead
}
