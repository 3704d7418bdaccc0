package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/packages/protocol/api"
)

// connection is a running connection to a channel server.
type connection struct {
	session *sdk.ClientSession
	conn    sdk.Connection
	stop    func()        // ends the server
	ended   chan struct{} // closed when the connection has ended
}

// place is a server of a folder.
type place struct{ folder, name string }

// Link is the connection of a channel to its server. Its methods may be called at once.
type Link struct {
	m     *Manager
	at    place
	s     *server
	up    *connection
	inbox *inbox
	tools []*sdk.Tool
}

// Attach connects a channel to a server, which is started if people allow it. A server has one
// channel. Its folder is the only one in which it runs from then on, for sessions as well.
func (m *Manager) Attach(ctx context.Context, folder, name string) (*Link, error) {
	at := place{folder, name}
	found, err := m.find(folder, name)
	if err != nil {
		return nil, err
	}
	if found.definition.Command == "" && found.fault == "" {
		return nil, fmt.Errorf("the MCP server %s is reached over HTTP: only one that is run as a command can be a channel", name)
	}
	s, box, err := m.claim(found, at)
	if err != nil {
		return nil, err
	}
	up, tools, err := s.await(ctx)
	if err != nil {
		box.detach()
		return nil, fmt.Errorf("the MCP server %s does not run: %w", name, err)
	}
	return &Link{m, at, s, up, box, tools}, nil
}

// claim runs a server as a channel and attaches its inbox.
func (m *Manager) claim(found spec, at place) (*server, *inbox, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, errors.New("mcp: the host is stopping")
	}
	if state, reason := m.admits(found, at.folder); state != api.MCPIdle {
		return nil, nil, fmt.Errorf("the MCP server %s may not run: %s. `scorel mcp list` shows it", at.name, reason)
	}
	box := m.claims[at]
	if box == nil {
		box = &inbox{arrived: make(chan struct{}, 1)}
		m.claims[at] = box
	}
	if !box.attach() {
		return nil, nil, fmt.Errorf("another channel uses the MCP server %s", at.name)
	}
	running := m.running[at.folder]
	if running == nil {
		running = map[string]*server{}
		m.running[at.folder] = running
	}
	s := running[at.name]
	if s != nil && (!s.spec.same(found) || s.inbox != box) {
		s.cancel()
		s = nil
	}
	if s == nil {
		s = m.run(found, at.folder, box)
		running[at.name] = s
	}
	return s, box, nil
}

// elsewhere reports whether a server runs as a channel in another folder. m.mu is held.
func (m *Manager) elsewhere(s spec, folder string) bool {
	for at := range m.claims {
		if at.name == s.name && at.folder != folder && (s.source != SourceProject || m.origin(at.folder) == m.origin(folder)) {
			return true
		}
	}
	return false
}

// await waits until a server runs.
func (s *server) await(ctx context.Context) (*connection, []*sdk.Tool, error) {
	_ = s.want()
	for {
		s.mu.Lock()
		state, reason, up, tools, settled := s.state, s.reason, s.up, s.tools, s.settled
		s.mu.Unlock()
		switch {
		case state == api.MCPReady && up != nil:
			return up, tools, nil
		case state != api.MCPStarting:
			return nil, nil, errors.New(reason)
		}
		select {
		case <-settled:
		case <-s.done:
			return nil, nil, errors.New("it was stopped")
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// ServerName is what the server calls itself.
func (l *Link) ServerName() string {
	if info := l.up.session.InitializeResult().ServerInfo; info != nil {
		return info.Name
	}
	return l.at.name
}

// Experimental returns the experimental capabilities that the server declares.
func (l *Link) Experimental() map[string]any {
	if c := l.up.session.InitializeResult().Capabilities; c != nil {
		return c.Experimental
	}
	return nil
}

// Tools returns the tools of the server.
func (l *Link) Tools() []*sdk.Tool { return l.tools }

// Done is closed when the connection has ended.
func (l *Link) Done() <-chan struct{} { return l.up.ended }

// Err says why the connection ended.
func (l *Link) Err() error {
	l.inbox.mu.Lock()
	flooded := l.inbox.flooded
	l.inbox.mu.Unlock()
	if flooded {
		return errFlood
	}
	_, reason, _, _ := l.s.snapshot()
	if reason == "" {
		reason = "it exited"
	}
	return errors.New(reason)
}

// Arrived holds a token while First may return something.
func (l *Link) Arrived() <-chan struct{} { return l.inbox.arrived }

// First returns the oldest notification that was not dropped.
func (l *Link) First() (method string, params json.RawMessage, ok bool) {
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	if len(l.inbox.notes) == 0 {
		return "", nil, false
	}
	return l.inbox.notes[0].method, l.inbox.notes[0].params, true
}

// Drop removes the notification that First returned.
func (l *Link) Drop() {
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	if len(l.inbox.notes) > 0 {
		l.inbox.bytes -= len(l.inbox.notes[0].params)
		l.inbox.notes = l.inbox.notes[1:]
	}
}

// Call calls a tool within the time limit of the server.
func (l *Link) Call(ctx context.Context, name string, arguments any) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, l.s.spec.call)
	defer cancel()
	defer l.unblock(ctx)()
	return l.up.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
}

// Notify sends a notification.
func (l *Link) Notify(ctx context.Context, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.s.spec.call)
	defer cancel()
	defer l.unblock(ctx)()
	return l.up.conn.Write(ctx, &jsonrpc.Request{Method: method, Params: raw})
}

// unblock ends the server if something is still being written to it a while after ctx has
// ended: it does not read. The caller calls the result when it has been written.
func (l *Link) unblock(ctx context.Context) func() {
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(killGrace)
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
			l.up.stop()
		}
	})
	return func() {
		close(written)
		stop()
	}
}

// Close ends the use of the connection. With forever, the server is no channel any more: it is
// stopped, and runs again when a session needs its tools.
func (l *Link) Close(forever bool) {
	l.inbox.detach()
	if !forever {
		return
	}
	l.m.mu.Lock()
	if l.m.claims[l.at] == l.inbox {
		delete(l.m.claims, l.at)
	}
	if l.m.running[l.at.folder][l.at.name] == l.s {
		delete(l.m.running[l.at.folder], l.at.name)
	}
	l.m.mu.Unlock()
	l.s.cancel()
	<-l.s.done
}

// experimental are the capabilities announced to the server of a channel.
func (s *server) experimental() map[string]any {
	if s.inbox == nil {
		return nil
	}
	return map[string]any{"claude/channel": map[string]any{}, "claude/channel/permission": map[string]any{}, "scorel/channel": map[string]any{"version": 1}}
}

// listening wraps the transport of a channel.
func (s *server) listening(transport sdk.Transport) sdk.Transport {
	if s.inbox == nil {
		return transport
	}
	s.inbox.mu.Lock()
	s.inbox.flooded = false
	s.inbox.mu.Unlock()
	return &tap{Transport: transport, inbox: s.inbox}
}

// linked publishes the connection of a channel; fail ends it.
func (s *server) linked(session *sdk.ClientSession, transport sdk.Transport, child *childProcess) {
	t, ok := transport.(*tap)
	if !ok || child == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = &connection{session: session, conn: t.conn, stop: child.stop, ended: make(chan struct{})}
}

// offered returns the tools that sessions may call. What answers in chats belongs to the channel.
func (s *server) offered(tools []*sdk.Tool) []*sdk.Tool {
	if s.inbox == nil {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t *sdk.Tool) bool {
		return t.Name == replyTool || strings.HasPrefix(t.Name, channelTools)
	})
}
