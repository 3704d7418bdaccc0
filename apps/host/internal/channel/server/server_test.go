package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/served"
	"github.com/scorel/scorel/apps/host/internal/channel/server"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// link is a connection to a server in this process, as the manager of MCP servers makes one.
type link struct {
	session *sdk.ClientSession
	conn    sdk.Connection
	tools   []*sdk.Tool
	arrived chan struct{}
	done    chan struct{}
	end     func()

	mu    sync.Mutex
	notes []*jsonrpc.Request
}

// connect runs a server and connects to it.
func connect(t *testing.T, run func(context.Context, sdk.Transport)) *link {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx, far) })
	l := &link{arrived: make(chan struct{}, 1), done: make(chan struct{})}
	options := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{Experimental: map[string]any{"claude/channel": map[string]any{}, "scorel/channel": map[string]any{"version": 1}}}}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, options).Connect(ctx, &tapping{near, l}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.session = session
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		l.tools = append(l.tools, tool)
	}
	running.Go(func() {
		_ = session.Wait()
		close(l.done)
	})
	l.end = sync.OnceFunc(func() {
		_ = session.Close()
		cancel()
		running.Wait()
	})
	t.Cleanup(l.end)
	return l
}

type tapping struct {
	sdk.Transport
	l *link
}

func (t *tapping) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	t.l.conn = conn
	return &tapped{conn, t.l}, err
}

type tapped struct {
	sdk.Connection
	l *link
}

func (t *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := t.Connection.Read(ctx)
		r, ok := m.(*jsonrpc.Request)
		if err != nil || !ok || r.IsCall() || !strings.Contains(r.Method, "/channel") {
			return m, err
		}
		t.l.mu.Lock()
		t.l.notes = append(t.l.notes, r)
		t.l.mu.Unlock()
		select {
		case t.l.arrived <- struct{}{}:
		default:
		}
	}
}

func (l *link) ServerName() string { return l.session.InitializeResult().ServerInfo.Name }
func (l *link) Experimental() map[string]any {
	return l.session.InitializeResult().Capabilities.Experimental
}
func (l *link) Tools() []*sdk.Tool       { return l.tools }
func (l *link) Arrived() <-chan struct{} { return l.arrived }
func (l *link) Done() <-chan struct{}    { return l.done }
func (l *link) Err() error               { return errors.New("it exited") }
func (l *link) Close(bool)               { l.end() }
func (l *link) Call(ctx context.Context, tool string, arguments any) (*sdk.CallToolResult, error) {
	return l.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
}

func (l *link) Notify(ctx context.Context, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return l.conn.Write(ctx, &jsonrpc.Request{Method: method, Params: raw})
}

func (l *link) First() (string, json.RawMessage, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.notes) == 0 {
		return "", nil, false
	}
	return l.notes[0].Method, l.notes[0].Params, true
}

func (l *link) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = l.notes[1:]
}

// extended is a platform in memory behind a channel server of scorel.
type extended struct {
	channeltest.Fake
	state string
}

// always is a platform that is connected whenever it is used: the suite sends some messages without
// receiving, and a server has no connection then. Until the suite receives, nothing is taken.
type always struct {
	*server.Platform

	mu   sync.Mutex
	stop func() // ends the connection that receives nothing; nil if there is none
}

// idle is an Inbound that takes nothing.
type idle struct{ connected chan struct{} }

func (i idle) Connected() { close(i.connected) }
func (i idle) Take(ctx context.Context, u channel.Update) error {
	if u.ID == "" {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (a *always) ensure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	in, ended := idle{make(chan struct{})}, make(chan error, 1)
	go func() { ended <- a.Platform.Run(ctx, nil, in) }()
	select {
	case <-in.connected:
		a.stop = func() {
			cancel()
			<-ended
		}
		return nil
	case err := <-ended:
		cancel()
		return err
	}
}

func (a *always) rest() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

func (a *always) Run(ctx context.Context, cursor []byte, in channel.Inbound) error {
	a.rest()
	a.mu.Lock()
	a.stop = func() {} // it is connected
	a.mu.Unlock()
	defer a.rest()
	return a.Platform.Run(ctx, cursor, in)
}

func (a *always) Check(ctx context.Context) (channel.Identity, error) {
	if err := a.ensure(); err != nil {
		return channel.Identity{}, err
	}
	return a.Platform.Check(ctx)
}

func (a *always) Send(ctx context.Context, chat string, m channel.Outgoing) (string, error) {
	if err := a.ensure(); err != nil {
		return "", err
	}
	return a.Platform.Send(ctx, chat, m)
}

func (a *always) Limits() channel.Limits {
	if a.ensure() != nil {
		return a.Platform.Limits()
	}
	return a.Platform.Limits()
}

// New implements channeltest.Fake.
func (e *extended) New(t *testing.T, token string) channel.Platform {
	behind := e.Fake.New(t, token)
	p := server.New(server.Options{Name: "memory", Connect: func(context.Context) (server.Link, error) {
		return connect(t, func(ctx context.Context, far sdk.Transport) {
			_ = served.Run(ctx, far, served.Options{Platform: behind, Name: "memory", Version: "1", Allow: []string{"4711"}, State: e.state})
		}), nil
	}})
	a := &always{Platform: p}
	t.Cleanup(a.rest)
	return a
}

// TestExtended runs the whole contract through a served platform: what passes here passes in
// both directions of the protocol.
func TestExtended(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fake {
		memory := channeltest.NewMemory()
		state := filepath.Join(t.TempDir(), "state.json")
		known, _ := json.Marshal(map[string]any{"chats": []string{"4711"}})
		if err := os.WriteFile(state, known, 0o600); err != nil {
			t.Fatal(err)
		}
		return &extended{memory.Fake(), state}
	})
}
