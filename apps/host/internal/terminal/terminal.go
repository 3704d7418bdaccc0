package terminal

import (
	"encoding/base64"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Bounds and times of one terminal.
const (
	maxWaiting = 256 << 10 // bytes of input that the program has not read yet
	// hangupGrace is how long a shell may take to end after a hangup, and how long the rest
	// of the output of an ended one is read.
	hangupGrace = 2 * time.Second
	// A terminal that no one is attached to is read at unwatchedBytes per unwatchedPause, so
	// that a program that only writes does not use up the machine.
	unwatchedBytes = 1 << 20
	unwatchedPause = 100 * time.Millisecond
)

// terminal is one shell. run and the goroutines that it starts own the process; requests
// change what mu guards.
type terminal struct {
	// Static after construction.
	log       *slog.Logger
	id        string
	clientID  string
	clientKey string
	projectID string
	sessionID string
	cwd       string
	createdAt int64
	patience  time.Duration
	cmd       *exec.Cmd
	master    *os.File
	wake      chan struct{} // holds one token when the reader should look again
	typed     chan struct{} // holds one token when there is input
	hungUp    chan struct{} // closed by hangUp
	ended     chan struct{} // closed when the shell has ended, and its end is set

	mu         sync.Mutex
	cols, rows int
	output     ring
	viewers    map[*dispatch.Conn]*viewer
	draining   bool // the shell has ended: the rest of its output is bounded
	input      []byte
	reason     api.TerminalReason // why it was hung up; "" if it was not
	end        *api.TerminalEnd
}

// viewer is a connection that gets the output.
type viewer struct {
	sent     int64 // offset behind what was sent
	acked    int64
	seen     time.Time // when it last had room, or acknowledged something
	notified bool      // of the end
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run runs the shell until it has ended, with everything in its session.
func (t *terminal) run() {
	var waited, read, written = make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { defer close(waited); _ = t.cmd.Wait() }() // ProcessState has the outcome
	go func() { defer close(read); t.read() }()
	go func() { defer close(written); t.writeInput(read) }()
	select {
	case <-waited:
	case <-t.hungUp:
		_ = t.master.Close() // the system hangs up
		within(waited, hangupGrace)
	}
	procgroup.Kill(t.cmd)
	<-waited
	t.drain()
	within(read, hangupGrace, t.hungUp)
	_ = t.master.Close()
	<-read
	<-written
	t.finish()
}

// within waits for done, but only for so long or until one of the others is closed.
func within(done <-chan struct{}, patience time.Duration, others ...<-chan struct{}) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var other <-chan struct{}
	if len(others) > 0 {
		other = others[0]
	}
	select {
	case <-done:
	case <-other:
	case <-timer.C:
	}
}

// read adds the output of the shell until there is no more.
func (t *terminal) read() {
	buffer := make([]byte, api.MaxTerminalChunk)
	unwatched := 0
	for {
		for pause := t.pause(&unwatched); pause > 0; pause = t.pause(&unwatched) {
			timer := time.NewTimer(pause)
			select {
			case <-t.wake:
			case <-timer.C:
				unwatched = 0
			case <-t.hungUp:
			}
			timer.Stop()
		}
		n, err := t.master.Read(buffer)
		unwatched += n
		t.add(buffer[:n])
		if err != nil { // EIO is the end of a terminal on Linux
			return
		}
	}
}

// pause returns how long to wait before reading more: 0 if some viewer has room, or if the
// terminal ends.
func (t *terminal) pause(unwatched *int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.draining || t.reason != "" {
		return 0
	}
	var longest time.Duration
	for _, v := range t.viewers {
		if t.output.end-v.acked < api.TerminalWindow {
			*unwatched = 0
			return 0
		}
		longest = max(longest, t.patience-time.Since(v.seen))
	}
	if longest > 0 {
		*unwatched = 0
		return longest
	}
	if *unwatched >= unwatchedBytes {
		return unwatchedPause
	}
	return 0
}

func (t *terminal) add(output []byte) {
	if len(output) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output.add(output)
	for c, v := range t.viewers {
		t.pump(c, v)
	}
}

// pump sends a viewer what it may get. Callers hold mu, so the events of a connection are in
// order; delivering does not wait.
func (t *terminal) pump(c *dispatch.Conn, v *viewer) {
	if v.sent-v.acked < api.TerminalWindow {
		v.seen = time.Now()
	}
	// A terminal that was taken away sends nothing more.
	for t.reason == "" && v.sent < t.output.end && v.sent-v.acked < api.TerminalWindow {
		// What a slow viewer missed counts as acknowledged.
		v.sent = max(v.sent, t.output.from())
		v.acked = max(v.acked, v.sent-api.TerminalWindow+1)
		part := t.output.at(v.sent, api.MaxTerminalChunk)
		t.deliver(c, api.TerminalOutput{TerminalID: t.id, Offset: v.sent, Data: base64.StdEncoding.EncodeToString(part)})
		v.sent += int64(len(part))
	}
	if t.end != nil && !v.notified && (v.sent == t.output.end || t.reason != "") {
		v.notified = true
		t.deliver(c, api.TerminalChanged{Terminal: t.describe()})
	}
}

func (t *terminal) deliver(c *dispatch.Conn, event api.Event) {
	envelope := api.EventEnvelope{Event: event}
	encoded, err := api.EncodeEvent(envelope)
	if err != nil {
		t.log.Error("sending an event of a terminal failed", "event", event.EventType(), "error", err)
		return
	}
	c.Deliver(envelope, encoded)
}

// describe is called with mu held.
func (t *terminal) describe() api.Terminal {
	return api.Terminal{
		ID: t.id, ProjectID: t.projectID, SessionID: t.sessionID, Cwd: t.cwd, Cols: t.cols, Rows: t.rows, CreatedAt: t.createdAt,
		From: t.output.from(), End: t.output.end, Ended: t.end,
	}
}

func (t *terminal) described() api.Terminal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.describe()
}

// writeInput types what write took, until the shell's output has ended.
func (t *terminal) writeInput(read <-chan struct{}) {
	for {
		select {
		case <-t.typed:
		case <-read:
			return
		}
		for data := t.nextInput(); len(data) > 0; data = t.nextInput() {
			n, err := t.master.Write(data)
			t.tookInput(n)
			if err != nil {
				return // it ends
			}
		}
	}
}

func (t *terminal) nextInput() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.input[:min(len(t.input), 4<<10)]
}

func (t *terminal) tookInput(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.input = t.input[n:]; len(t.input) == 0 {
		t.input = nil // of a long paste
	}
}

// drain makes the reader read what is left, however slow the viewers are.
func (t *terminal) drain() {
	t.mu.Lock()
	t.draining = true
	t.mu.Unlock()
	signal(t.wake)
}

// hangUp ends the shell for a reason; only the first call counts.
func (t *terminal) hangUp(reason api.TerminalReason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reason == "" {
		t.reason = reason
		close(t.hungUp)
	}
}

// finish sets the end of the shell and tells the viewers.
func (t *terminal) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = &api.TerminalEnd{Reason: t.reason, ExitCode: t.cmd.ProcessState.ExitCode(), Signal: signalName(t.cmd.ProcessState)}
	if t.end.Reason == "" {
		t.end.Reason = api.TerminalExited
	}
	t.log.Info("terminal ended", "client", t.clientID, "terminal", t.id, "reason", t.end.Reason, "exitCode", t.end.ExitCode, "signal", t.end.Signal)
	for c, v := range t.viewers {
		t.pump(c, v)
	}
	close(t.ended)
}
