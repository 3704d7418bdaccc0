//go:build !windows

package terminal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/terminal"
	"github.com/scorel/scorel/packages/protocol/api"
)

// world is a host whose clients may open terminals until revoke names them.
type world struct {
	*dispatchtest.Host
	t         *testing.T
	terminals *terminal.Terminals

	mu      sync.Mutex
	revoked map[string]bool
	// where sessions work, by their ids.
	sessions map[string]api.Project
}

func newWorld(t *testing.T) *world {
	w := &world{Host: dispatchtest.New(t), t: t, revoked: map[string]bool{}, sessions: map[string]api.Project{}}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte("PS1='ready>'\n"), 0o600); err != nil { // a login shell reads it
		t.Fatal(err)
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh"}
	w.terminals = terminal.New(terminal.Options{
		Logger: w.Log, Projects: w.Projects, Environ: func() []string { return environ }, Home: home, Patience: terminal.Patience,
		Allowed: func(id string) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return !w.revoked[id]
		},
		Session: func(id string) (api.Project, error) {
			if at, ok := w.sessions[id]; ok {
				return at, nil
			}
			return api.Project{}, api.Errorf(api.KindNotFound, "no session %q", id)
		},
		Changed: func(id string) { w.Hub.NotifyClient(id, api.GrantShell, api.TerminalsChanged{}) },
	})
	w.Serve(w.terminals.Endpoints())
	t.Cleanup(w.terminals.Close)
	return w
}

// revoke takes the grant of a client away.
func (w *world) revoke(id string) {
	w.mu.Lock()
	w.revoked[id] = true
	w.mu.Unlock()
	w.terminals.Recheck(id)
}

// screen is a client's connection, and what it drew of one terminal.
type screen struct {
	*dispatchtest.Client
	t *testing.T

	mu     sync.Mutex
	news   chan struct{} // closed, and replaced, with each event
	from   int64
	text   []byte
	last   *api.Terminal // of the latest terminal_changed
	lists  int           // how often the list of terminals has changed
	gap    bool
	events int
}

func (w *world) connect(id string) *screen {
	s := &screen{t: w.t, news: make(chan struct{})}
	s.Client = w.Watch(id, s.take, api.GrantView, api.GrantShell)
	return s
}

func (s *screen) take(e api.EventEnvelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch event := e.Event.(type) {
	case api.TerminalOutput:
		data, err := base64.StdEncoding.DecodeString(event.Data)
		if err != nil || len(data) > api.MaxTerminalChunk {
			s.t.Errorf("an event has %d bytes, %v", len(data), err)
		}
		if event.Offset != s.from+int64(len(s.text)) {
			s.gap = true
			s.from, s.text = event.Offset, nil
		}
		s.text = append(s.text, data...)
		s.events++
	case api.TerminalChanged:
		s.last = &event.Terminal
	case api.TerminalsChanged:
		s.lists++
	}
	close(s.news)
	s.news = make(chan struct{})
}

// until waits for a state of the screen.
func (s *screen) until(what string, holds func() bool) {
	s.t.Helper()
	for {
		s.mu.Lock()
		ok, news := holds(), s.news
		text := string(s.text[max(0, len(s.text)-500):])
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-s.Done():
			s.t.Fatalf("%s: the connection ended; the screen has %q", what, text)
		case <-s.t.Context().Done():
			s.t.Fatalf("%s: the screen has %q", what, text)
		}
	}
}

func (s *screen) shows(text string) {
	s.t.Helper()
	s.until(text, func() bool { return bytes.Contains(s.text, []byte(text)) })
}

// position is the offset behind what was drawn.
func (s *screen) position() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from + int64(len(s.text))
}

func (s *screen) open(key string) api.Terminal {
	s.t.Helper()
	return dispatchtest.Call(s.t, s.Client, api.OpenTerminal, api.OpenTerminalRequest{ClientKey: key, Cols: 80, Rows: 24}).Terminal
}

func (s *screen) attach(id string, offset int64) api.AttachTerminalResponse {
	s.t.Helper()
	s.mu.Lock()
	s.from, s.text, s.gap = offset, nil, false
	s.mu.Unlock()
	return dispatchtest.Call(s.t, s.Client, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: id, Offset: offset})
}

func (s *screen) ack(id string, offset int64) {
	s.t.Helper()
	dispatchtest.Call(s.t, s.Client, api.AckTerminal, api.AckTerminalRequest{TerminalID: id, Offset: offset})
}

func typed(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func (s *screen) write(id, text string) {
	s.t.Helper()
	dispatchtest.Call(s.t, s.Client, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: id, Data: typed(text)})
}

// TestAShell: what is typed runs, in a terminal of the given size, in the user's home, and
// the exit status is shown after the last output.
func TestAShell(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	opened := s.open("k")
	if again := s.open("k"); again.ID != opened.ID {
		t.Error("a retry opened another terminal")
	}
	s.attach(opened.ID, 0)
	s.shows("ready>")
	s.write(opened.ID, "printf '%s:' made; tty -s && stty size; echo $TERM; pwd\n")
	s.shows("made:24 80\r\nxterm-256color\r\n" + opened.Cwd)
	resized := dispatchtest.Call(t, s.Client, api.ResizeTerminal, api.ResizeTerminalRequest{TerminalID: opened.ID, Cols: 101, Rows: 33}).Terminal
	if resized.Cols != 101 || resized.Rows != 33 {
		t.Errorf("resized to %+v", resized)
	}
	s.write(opened.ID, "stty size; exit 7\n")
	s.until("the end", func() bool { return s.last != nil && s.last.Ended != nil })
	s.shows("33 101\r\n")
	if end := *s.last.Ended; end != (api.TerminalEnd{Reason: api.TerminalExited, ExitCode: 7}) {
		t.Errorf("the end is %+v", end)
	}
	if s.last.End != s.position() {
		t.Errorf("the end was sent at %d, before the output up to %d", s.position(), s.last.End)
	}
	dispatchtest.Refused(t, s.Client, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: opened.ID, Data: typed("x")}, api.KindConflict)
	// What an ended terminal showed can still be read.
	late := w.connect("a")
	late.attach(opened.ID, 0)
	late.shows("33 101\r\n")
	dispatchtest.Call(t, late.Client, api.CloseTerminal, api.TerminalRequest{TerminalID: opened.ID})
	if left := dispatchtest.Call(t, s.Client, api.ListTerminals, api.Empty{}).Terminals; len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
}

// TestOutputContinuesAfterAReconnect: the shell continues without its client, which then gets
// every byte once.
func TestOutputContinuesAfterAReconnect(t *testing.T) {
	w := newWorld(t)
	first := w.connect("a")
	opened := first.open("k")
	first.attach(opened.ID, 0)
	first.shows("ready>")
	first.write(opened.ID, "echo be''fore\n")
	first.shows("before\r\nready>")
	seen := first.position()
	text := string(first.text)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := w.connect("a")
	second.write(opened.ID, "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i; done\n")
	answer := second.attach(opened.ID, seen)
	if answer.Offset != seen || answer.Missed != 0 {
		t.Errorf("attached at %d instead of %d, %d missed", answer.Offset, seen, answer.Missed)
	}
	second.shows("line 100\r\nready>")
	all := w.connect("a")
	all.attach(opened.ID, 0)
	all.shows("line 100\r\nready>")
	if got := text + string(second.text); got != string(all.text) || second.gap || all.gap {
		t.Errorf("both connections got %q, one alone %q", got, all.text)
	}
}

// TestMissedOutputIsCounted: what no longer fits was not kept, and a client is told how much.
func TestMissedOutputIsCounted(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	opened := s.open("k")
	const size = 3 * api.TerminalBytes
	// No one is attached, so nothing waits.
	s.write(opened.ID, fmt.Sprintf("stty -opost; head -c %d /dev/zero | tr '\\0' x; echo en''d; exit\n", size))
	other := w.connect("a")
	waitEnded(t, other, opened.ID)
	answer := s.attach(opened.ID, 5)
	if from := answer.Terminal.From; answer.Offset != from || answer.Missed != from-5 || answer.Terminal.End-from != api.TerminalBytes {
		t.Errorf("the answer is %+v", answer)
	}
	for s.position() < answer.Terminal.End {
		at := s.position()
		s.ack(opened.ID, at)
		s.until("more", func() bool { return s.from+int64(len(s.text)) > at || at == answer.Terminal.End })
	}
	s.shows("end")
}

// waitEnded waits for the end of a terminal by attaching behind its output.
func waitEnded(t *testing.T, s *screen, id string) {
	t.Helper()
	for {
		list := dispatchtest.Call(t, s.Client, api.ListTerminals, api.Empty{}).Terminals
		for _, each := range list {
			if each.ID == id && each.Ended != nil {
				return
			}
		}
		if t.Context().Err() != nil {
			t.Fatal("the terminal did not end")
		}
	}
}

// TestAFloodWaitsForItsViewer: a client gets a window of output and no more until it has
// acknowledged, and nothing is lost. One that keeps up is not held up by one that does not.
func TestAFloodWaitsForItsViewer(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	opened := s.open("k")
	s.attach(opened.ID, 0)
	s.shows("ready>")
	s.write(opened.ID, "yes\n")
	const total = 4 * api.TerminalBytes
	for s.position() < total {
		at := s.position()
		s.ack(opened.ID, at)
		s.until("more", func() bool {
			if ahead := s.from + int64(len(s.text)) - at; ahead > api.TerminalWindow+api.MaxTerminalChunk {
				t.Fatalf("%d bytes were sent ahead", ahead)
			}
			return s.from+int64(len(s.text)) > at
		})
	}
	if s.gap {
		t.Error("the only viewer missed something")
	}
	slow := w.connect("a")
	begin := slow.attach(opened.ID, s.position())
	goal := s.position() + 2*api.TerminalBytes
	for s.position() < goal {
		at := s.position()
		s.ack(opened.ID, at)
		s.until("more", func() bool { return s.from+int64(len(s.text)) > at })
	}
	if n := slow.position() - begin.Offset; n > api.TerminalWindow+api.MaxTerminalChunk {
		t.Errorf("the slow one was sent %d bytes", n)
	}
	// When it comes back, it gets what there is, and sees how much it missed.
	slow.ack(opened.ID, slow.position())
	slow.until("a gap", func() bool { return slow.gap })
	if s.gap {
		t.Error("the fast one missed something")
	}
}

// TestACloseEndsTheShell with what it started, even what ignores a hangup, and tells the
// viewers.
func TestACloseEndsTheShell(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	opened := s.open("k")
	s.attach(opened.ID, 0)
	s.write(opened.ID, "trap '' HUP; (trap '' HUP; while :; do sleep 600; done) & echo pid:$!:\n")
	pid := s.pid()
	dispatchtest.Call(t, s.Client, api.CloseTerminal, api.TerminalRequest{TerminalID: opened.ID})
	s.until("the end", func() bool { return s.last != nil && s.last.Ended != nil })
	if s.last.Ended.Reason != api.TerminalClosed {
		t.Errorf("the end is %+v", s.last.Ended)
	}
	gone(t, pid)
	dispatchtest.Refused(t, s.Client, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: opened.ID}, api.KindNotFound)
}

var pidShown = regexp.MustCompile(`pid:(\d+):`)

// pid waits for the id of a process on the screen, such as pid:123:.
func (s *screen) pid() (id int) {
	s.t.Helper()
	s.until("a process id", func() bool {
		found := pidShown.FindSubmatch(s.text)
		if found != nil {
			id, _ = strconv.Atoi(string(found[1]))
		}
		return found != nil
	})
	return id
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for alive(pid) {
		if ctx.Err() != nil {
			t.Fatalf("the process %d lives", pid)
		}
	}
}
