// Package server makes a platform of a channel server of MCP: a server with the experimental
// capability "claude/channel", as Claude Code documents it, that another program wrote.
//
// Its messages arrive as notifications/claude/channel. The chat is chat_id in meta, or one chat
// for the whole server, and the sender is what meta calls one. The tool reply answers. With the
// capability "claude/channel/permission", an approval is sent as text and then as a request with
// five letters, and the server's answer to these letters is a press of its button.
//
// A server with the capability "scorel/channel" sends updates and takes messages in the shapes of
// the package wire instead, so that it can offer buttons, edits and files. It keeps each update
// until it is acknowledged.
//
// What a server says about who wrote or pressed cannot be checked. So whoever is above this
// package must give its chats no more than the server itself may do.
//
// Unlike the limits of other platforms, those of a server are known when it has connected;
// before, they are those of a server that declares nothing.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

// Link is a connection to a server. All methods may be called at once.
type Link interface {
	ServerName() string
	Experimental() map[string]any
	Tools() []*sdk.Tool
	Call(ctx context.Context, tool string, arguments any) (*sdk.CallToolResult, error)
	Notify(ctx context.Context, method string, params any) error
	// Arrived holds a token while First may return a notification. Drop removes the first.
	Arrived() <-chan struct{}
	First() (method string, params json.RawMessage, ok bool)
	Drop()
	// Done is closed when the connection has ended, and Err says why.
	Done() <-chan struct{}
	Err() error
	// Close ends the use of the connection, for a while or forever.
	Close(forever bool)
}

// Options configure a platform.
type Options struct {
	Name    string // of the server in the configuration
	Connect func(ctx context.Context) (Link, error)
}

const (
	maxPending = 16 // approvals that wait for the server's answer; the newest are kept
)

// Platform is a channel server.
type Platform struct {
	options Options

	mu      sync.Mutex
	link    Link // nil while it is not connected
	facts   facts
	pending []pending
	changed chan struct{} // holds one token after a change of pending
}

var _ channel.Platform = (*Platform)(nil)

// facts are what a server declares.
type facts struct {
	extended   bool
	permission bool
	reply      *replies // nil for a server that only speaks
	limits     channel.Limits
}

// New makes a platform. It does not connect yet.
func New(o Options) *Platform {
	return &Platform{options: o, facts: facts{limits: plainLimits()}, changed: make(chan struct{}, 1)}
}

// plainLimits are those of a server that does not say any.
func plainLimits() channel.Limits {
	l := wire.Capability{Version: 1, Text: 2000, Every: 200}.Limits()
	return l
}

// Limits implements channel.Platform.
func (p *Platform) Limits() channel.Limits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.facts.limits
}

var errAway = errors.New("the channel server is not connected")

// connected returns the connection with what its server declares.
func (p *Platform) connected() (Link, facts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil {
		return nil, facts{}, errAway
	}
	return p.link, p.facts, nil
}

// Check implements channel.Platform.
func (p *Platform) Check(ctx context.Context) (channel.Identity, error) {
	link, facts, err := p.connected()
	if err != nil {
		return channel.Identity{}, err
	}
	return check(ctx, link, facts)
}

func check(ctx context.Context, link Link, facts facts) (channel.Identity, error) {
	who := channel.Identity{ID: link.ServerName(), Name: link.ServerName()}
	if !facts.extended || !has(link.Tools(), wire.ToolCheck) {
		return who, nil
	}
	result, err := invoke(ctx, link, wire.ToolCheck, struct{}{})
	if err == nil && result.Name != "" {
		who = channel.Identity{ID: result.ID, Name: result.Name, Link: result.Link}
	}
	return who, err
}

func has(tools []*sdk.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t *sdk.Tool) bool { return t.Name == name })
}

// Run implements channel.Platform. The cursor holds the approvals that wait for an answer.
func (p *Platform) Run(ctx context.Context, cursor []byte, in channel.Inbound) (err error) {
	p.restore(cursor)
	link, err := p.options.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		p.mu.Lock()
		p.link = nil
		p.mu.Unlock()
		link.Close(ctx.Err() != nil)
	}()
	facts, err := declared(link)
	if err != nil {
		return fmt.Errorf("the MCP server %s is no channel: %w", p.options.Name, err)
	}
	if _, err := check(ctx, link, facts); err != nil {
		return err
	}
	p.mu.Lock()
	p.link, p.facts = link, facts
	p.mu.Unlock()
	in.Connected()
	for {
		if method, params, ok := link.First(); ok {
			if err := p.take(ctx, link, facts, method, params, in); err != nil {
				return err
			}
			link.Drop()
			continue
		}
		select {
		case <-link.Arrived():
		case <-p.changed:
			if err := in.Take(ctx, channel.Update{Cursor: p.cursor()}); err != nil {
				return err
			}
		case <-link.Done():
			return fmt.Errorf("the channel server ended: %w", link.Err())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// declared reads the capabilities of a server.
func declared(link Link) (f facts, err error) {
	all := link.Experimental()
	if all[wire.Channel] == nil {
		return f, fmt.Errorf("it does not declare the capability %s", wire.Channel)
	}
	if value := all[wire.Extended]; value != nil {
		c, err := wire.ReadCapability(value)
		if err != nil {
			return f, fmt.Errorf("its capability %s cannot be used: %w", wire.Extended, err)
		}
		if !has(link.Tools(), wire.ToolSend) {
			return f, fmt.Errorf("it declares %s and has no tool %s", wire.Extended, wire.ToolSend)
		}
		return facts{extended: true, limits: c.Limits()}, nil
	}
	f.limits = plainLimits()
	f.permission = all[wire.Permission] != nil
	f.limits.Buttons = f.permission
	f.reply = readReplies(link.Tools())
	return f, nil
}

// take takes one notification. What is not for this package, or cannot be read, is dropped.
func (p *Platform) take(ctx context.Context, link Link, facts facts, method string, params json.RawMessage, in channel.Inbound) error {
	switch {
	case method == wire.MethodUpdate && facts.extended:
		var u wire.Update
		if json.Unmarshal(params, &u) != nil || u.Update.ID == "" {
			return nil
		}
		u.Update.Cursor = nil // the server keeps what was not acknowledged
		for _, m := range []*channel.Message{u.Update.Message, u.Update.Edited} {
			if m != nil {
				m.Outside = true
			}
		}
		if u.Update.Press != nil {
			u.Update.Press.Anyone = false
		}
		if err := in.Take(ctx, u.Update); err != nil {
			return err
		}
		return link.Notify(ctx, wire.MethodAck, wire.Ack{ID: u.Update.ID})
	case method == wire.MethodMessage && !facts.extended:
		u, ok := readMessage(params)
		if !ok {
			return nil
		}
		return in.Take(ctx, u)
	case method == wire.MethodAnswer && facts.permission:
		u, ok := p.answered(params)
		if !ok {
			return nil
		}
		return in.Take(ctx, u)
	}
	return nil
}

// settle is how long a call of a server may take that says nothing.
const settle = time.Minute

// invoke calls a tool of the protocol.
func invoke(ctx context.Context, link Link, tool string, arguments any) (r wire.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	result, err := link.Call(ctx, tool, arguments)
	if err != nil {
		return r, fmt.Errorf("the channel server did not answer: %w", err)
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err == nil && result.StructuredContent == nil {
		raw = []byte(text(result))
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	switch {
	case result.IsError && r.Error == "":
		return r, errors.New("the channel server failed: " + channel.CleanProblem(text(result)))
	case err != nil:
		return r, errors.New("the channel server gave an answer that cannot be read")
	}
	return r, r.Err(text(result))
}

func text(result *sdk.CallToolResult) string {
	for _, c := range result.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			return channel.Cut(t.Text, 4096)
		}
	}
	return ""
}
