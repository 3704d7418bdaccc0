package editors_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/editors"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestMain(m *testing.M) {
	hosttest.AgentMain()
	leakcheck.Main(m)
}

// patience bounds every wait.
const patience = time.Minute

// world is a real host with the demo model.
type world struct {
	t            *testing.T
	home, folder string
	local        *client.Client
}

// newWorld starts a host; config, if any, is its config.toml.
func newWorld(t *testing.T, config ...string) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), folder: filepath.Join(t.TempDir(), "site")}
	if err := os.Mkdir(w.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if len(config) > 0 {
		if err := os.WriteFile(filepath.Join(w.home, "config.toml"), []byte(config[0]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hosttest.Run(t, host.Config{Home: w.home, Label: "laptop", NoRelay: true, Getenv: func(string) string { return "" }})
	transport, err := host.DialLocal(t.Context(), w.home)
	if err != nil {
		t.Fatal(err)
	}
	w.local = client.New(transport, nil)
	t.Cleanup(func() { _ = w.local.Close() })
	return w
}

// editor is another implementation of the protocol's client.
type editor struct {
	sdk.Client
	t    *testing.T
	conn *sdk.ClientSideConnection

	mu          sync.Mutex
	changed     chan struct{} // closed and replaced when something arrived
	updates     []sdk.SessionUpdate
	asked       []sdk.RequestPermissionRequest
	withdrawn   int
	permission  func(context.Context, sdk.RequestPermissionRequest) (sdk.PermissionOptionId, bool)
	transports  []client.Transport
	connections int
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.note(func() { e.updates = append(e.updates, n.Update) })
	return nil
}

func (e *editor) note(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *editor) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.note(func() { e.asked = append(e.asked, r) })
	if id, ok := e.permission(ctx, r); ok {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(id)}, nil
	}
	if ctx.Err() != nil {
		e.note(func() { e.withdrawn++ })
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

// await waits until something holds for what has arrived.
func (e *editor) await(what string, holds func() bool) {
	e.t.Helper()
	late := time.After(patience)
	for {
		e.mu.Lock()
		ok, changed := holds(), e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			e.t.Fatalf("no %s", what)
		}
	}
}

// text joins the chunks of the agent's messages. e.mu is held.
func (e *editor) text() string {
	var b strings.Builder
	for _, u := range e.updates {
		if u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil {
			b.WriteString(u.AgentMessageChunk.Content.Text.Text)
		}
	}
	return b.String()
}

func (e *editor) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text()
}

// open starts a server for an editor that allows what it is asked.
func (w *world) open() *editor {
	w.t.Helper()
	e := &editor{t: w.t, changed: make(chan struct{})}
	e.permission = func(_ context.Context, r sdk.RequestPermissionRequest) (sdk.PermissionOptionId, bool) {
		return r.Options[0].OptionId, true
	}
	in, editorOut := io.Pipe()
	editorIn, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- editors.Run(context.WithoutCancel(w.t.Context()), editors.Config{
			Input: in, Output: out, Local: true, Version: "test", Logger: slog.New(slog.DiscardHandler),
			Feed: feed.Config{Dial: e.dial(w.home), Lost: func(error) bool { return true }},
		})
	}()
	w.t.Cleanup(func() {
		_ = editorOut.Close()
		if err := <-ended; err != nil {
			w.t.Errorf("serving the editor: %v", err)
		}
	})
	e.conn = sdk.NewClientSideConnection(e, editorOut, editorIn)
	got, err := e.conn.Initialize(w.t.Context(), sdk.InitializeRequest{ProtocolVersion: 1})
	if err != nil || got.ProtocolVersion != 1 || !got.AgentCapabilities.LoadSession || !got.AgentCapabilities.PromptCapabilities.Image {
		w.t.Fatalf("%+v %v", got, err)
	}
	return e
}

// dial connects to the host, with connections that cut can end.
func (e *editor) dial(home string) func(context.Context) (client.Transport, error) {
	return func(ctx context.Context) (client.Transport, error) {
		transport, err := host.DialLocal(ctx, home)
		if err == nil {
			e.note(func() { e.transports = append(e.transports, transport); e.connections++ })
		}
		return transport, err
	}
}

func (e *editor) cut() {
	e.mu.Lock()
	transports := e.transports
	e.transports = nil
	e.mu.Unlock()
	for _, transport := range transports {
		_ = transport.Close()
	}
}

func (e *editor) begin(folder string) sdk.SessionId {
	e.t.Helper()
	created, err := e.conn.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: folder, McpServers: []sdk.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return created.SessionId
}

func (e *editor) prompt(id sdk.SessionId, blocks ...sdk.ContentBlock) sdk.PromptResponse {
	e.t.Helper()
	response, err := e.conn.Prompt(e.t.Context(), sdk.PromptRequest{SessionId: id, Prompt: blocks})
	if err != nil {
		e.t.Fatal(err)
	}
	return response
}

// logged returns the texts of the agent in the log.
func (w *world) logged(id sdk.SessionId) string {
	w.t.Helper()
	got, err := client.Call(w.t.Context(), w.local, api.GetEntries, api.GetEntriesRequest{SessionID: string(id)})
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for _, entry := range got.Entries {
		if m, ok := entry.AsMessage(); ok && m.Message.Role == session.RoleAssistant {
			b.WriteString(m.Message.Content.Plain())
		}
	}
	return b.String()
}
