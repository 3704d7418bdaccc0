//go:build linux

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// foreignEditor is an editor of another implementation.
type foreignEditor struct {
	sdk.Client
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func (e *foreignEditor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	if chunk := n.Update.AgentMessageChunk; chunk != nil && chunk.Content.Text != nil {
		e.mu.Lock()
		e.text.WriteString(chunk.Content.Text.Text)
		close(e.changed)
		e.changed = make(chan struct{})
		e.mu.Unlock()
	}
	return nil
}

func (e *foreignEditor) await(t *testing.T, word string) {
	t.Helper()
	late := time.After(patience)
	for {
		e.mu.Lock()
		has, changed := strings.Contains(e.text.String(), word), e.changed
		e.mu.Unlock()
		if has {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("no %q", word)
		}
	}
}

// command is the program that runs on a home and prints JSON, line by line.
type command struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func run(t *testing.T, program, home string, args ...string) *command {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SCOREL_HOME="+home, "HOME="+home, "SCOREL_MDNS=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &command{cmd, bufio.NewScanner(out)}
}

// field returns the next value of a member in what the command prints.
func (c *command) field(t *testing.T, name string) string {
	t.Helper()
	for c.out.Scan() {
		var line map[string]any
		if value, ok := "", json.Unmarshal(c.out.Bytes(), &line) == nil && line[name] != nil; ok {
			value, _ = line[name].(string)
			return value
		}
	}
	t.Fatalf("the command printed no %s", name)
	return ""
}

func (c *command) end(t *testing.T) {
	t.Helper()
	for c.out.Scan() { // it may print more
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%s: %v", c.cmd, err)
	}
}

// TestAnEditorAtADistance: the real program serves an editor of another implementation with the
// agent of a paired device. The connection is cut in the middle of turns; the editor gets all that
// is in the log, once.
func TestAnEditorAtADistance(t *testing.T) {
	w := newWorld(t)
	between := proxy.New(t, proxy.TCP(hostOf(t, w.relay.URL)))
	binary, home := program(t), filepath.Join(t.TempDir(), "editor")
	connecting := run(t, binary, home, "connect", "--json", "--relay", "http://"+between.Addr())
	code := connecting.field(t, "code")
	run(t, binary, filepath.Join(w.home, "scorel"), "pair", code, "--yes").end(t)
	connecting.end(t)

	e := &foreignEditor{changed: make(chan struct{})}
	conn, end := e.begin(t, binary, home, "acp", "--device", w.id.String())
	// The folder has another path there, and the same name.
	created, err := conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "/elsewhere/demo", McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		response, err := conn.Prompt(context.WithoutCancel(t.Context()), sdk.PromptRequest{SessionId: created.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock("stream 120")}})
		if err == nil && response.StopReason != sdk.StopReasonEndTurn {
			err = fmt.Errorf("the turn ended with %s", response.StopReason)
		}
		ended <- err
	}()
	for _, word := range []string{"word5 ", "word40 "} {
		e.await(t, word)
		between.Cut()
		between.Heal()
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("the turn did not end")
	}
	var logged strings.Builder
	for _, entry := range ask(t, w.local, api.GetEntries, api.GetEntriesRequest{SessionID: string(created.SessionId)}).Entries {
		if m, ok := entry.AsMessage(); ok && m.Message.Role == session.RoleAssistant {
			logged.WriteString(m.Message.Content.Plain())
		}
	}
	e.mu.Lock()
	if got := e.text.String(); got != logged.String() {
		t.Errorf("the editor got\n%q\nthe log has\n%q", got, logged.String())
	}
	e.mu.Unlock()
	end()
}

// begin starts the program and connects the editor to it. end closes its input and waits for it.
func (e *foreignEditor) begin(t *testing.T, program, home string, args ...string) (conn *sdk.ClientSideConnection, end func()) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SCOREL_HOME="+home, "HOME="+home, "SCOREL_MDNS=off")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	conn = sdk.NewClientSideConnection(e, in, out)
	if _, err := conn.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	return conn, func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("scorel acp ended with %v", err)
		}
	}
}
