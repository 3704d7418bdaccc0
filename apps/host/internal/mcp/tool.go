package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of a server's tool descriptions and results.
const (
	maxName        = 64 // longest name that providers accept
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
	maxDetails     = 256 << 10
)

// remoteTool is a tool of a server.
type remoteTool struct {
	server *server
	remote string // the server's name for the tool
	spec   agent.ToolSpec
	reads  bool // the server declares it read-only
}

func (t remoteTool) Spec() agent.ToolSpec { return t.spec }

// Risk implements agent.Tool. A server's claims about its own tools are not trusted: every
// call is subject to permission checks.
func (remoteTool) Risk() agent.Risk { return agent.RiskWrite }

func (t remoteTool) Describe(call agent.Call) agent.Description {
	return agent.Description{
		Title:  fmt.Sprintf("Use %s of the MCP server %s", t.remote, t.server.spec.name),
		Detail: string(call.Arguments), Foreign: true, ReadOnly: t.reads,
	}
}

// remoteDetails holds information for people and programs besides the text.
type remoteDetails struct {
	Server     string `json:"server"`
	Tool       string `json:"tool"`
	Structured any    `json:"structured,omitempty"`
}

func (t remoteTool) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	name := t.server.spec.name
	_, reason, _, conn := t.server.snapshot()
	if conn == nil {
		return agent.Failure("The MCP server %s is not running (%s). It will be started again in a later turn; continue without it, or tell the user.", name, cmp.Or(reason, "it is starting"))
	}
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
		return agent.Failure("%s: the arguments are not a JSON object: %v.", call.Name, err)
	}
	limited, asked := t.server.asking.begin(ctx, call, t.server)
	defer t.server.asking.end(asked)
	began := time.Now()
	params := &sdk.CallToolParams{Name: t.remote, Arguments: arguments}
	op := t.server.running.begin(ctx, call, t, params)
	result, err := conn.CallTool(limited, params)
	if asked.opened(limited, err) {
		result, err = conn.CallTool(limited, params)
	}
	t.server.running.end(op, callEnd(ctx, limited, result, err))
	switch {
	case err == nil:
		return asked.noted(t.result(result))
	case ctx.Err() != nil:
		return agent.Cancelled(time.Since(began), "")
	case limited.Err() != nil:
		return agent.Failure("The MCP server %s did not respond within %d s; side effects may have happened. tool_timeout in config.toml sets the limit.", name, int(t.server.spec.call.Seconds()))
	case errors.Is(err, mcpauth.ErrSignIn):
		if scopes, ok := needsScopes(err); ok {
			return agent.Failure("The MCP server %s refused the call: %v. Tell the user to sign in again (scorel mcp login %s, or Sign in in the settings), which asks for these permissions.", name, scopes, name)
		}
		return agent.Failure("The MCP server %s refused the call: its sign-in has ended. Tell the user to sign in again (scorel mcp login %s, or Sign in in the settings).", name, name)
	case serverEnded(err):
		return agent.Failure("The MCP server %s exited during the call; side effects may have happened. It will be started again in the next turn.", name)
	}
	return agent.Failure("The MCP server %s refused the call: %v.", name, err)
}

func serverEnded(err error) bool {
	return errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed)
}

func (t remoteTool) result(from *sdk.CallToolResult) agent.Result {
	result := agent.Result{IsError: from.IsError}
	for _, content := range from.Content {
		result.Content = append(result.Content, block(content))
	}
	info := remoteDetails{Server: t.server.spec.name, Tool: t.remote, Structured: from.StructuredContent}
	if len(result.Content) == 0 && from.StructuredContent != nil {
		if text, err := session.Encode(from.StructuredContent); err == nil {
			result.Content = session.Content{session.Text(string(text))}
		}
	}
	if details, err := session.Encode(info); err == nil && len(details) <= maxDetails {
		result.Details = details
	}
	return result
}

// block converts content of a server to a block for the model.
func block(content sdk.Content) session.Block {
	switch c := content.(type) {
	case *sdk.TextContent:
		return session.Text(strings.ToValidUTF8(c.Text, "\uFFFD"))
	case *sdk.ImageContent:
		image, err := picture.Check(c.Data)
		if err != nil {
			return session.Text(fmt.Sprintf("[An image of the type %s cannot be shown: it %s.]", c.MIMEType, err))
		}
		return image
	case *sdk.ResourceLink:
		return session.Text(fmt.Sprintf("[%s: %s]", cmp.Or(c.Title, c.Name, "resource"), c.URI))
	case *sdk.EmbeddedResource:
		if c.Resource != nil && c.Resource.Text != "" {
			return session.Text(strings.ToValidUTF8(c.Resource.Text, "\uFFFD"))
		}
		return session.Text("[a resource that is not text]")
	}
	return session.Text("[content of a type that cannot be shown]")
}

// offer creates the tools of running servers, sorted by name.
func offer(servers []*server) []agent.Tool {
	var tools []remoteTool
	for _, s := range servers {
		_, _, remote, _ := s.snapshot()
		for _, tool := range s.offered(remote) {
			if spec, ok := specOf(s.spec.name, tool); ok {
				tools = append(tools, remoteTool{s, tool.Name, spec, readsOnly(tool.Annotations)})
			}
		}
	}
	makeUnique(tools)
	slices.SortStableFunc(tools, func(a, b remoteTool) int { return cmp.Compare(a.spec.Name, b.spec.Name) })
	tools = slices.CompactFunc(tools, func(a, b remoteTool) bool { return a.spec.Name == b.spec.Name }) // a deliberate collision
	out := make([]agent.Tool, 0, len(tools))
	for _, t := range tools {
		out = append(out, t)
	}
	return out
}

// readsOnly trusts a server's annotations only if they are consistent: a tool that is both
// read-only and destructive is not.
func readsOnly(a *sdk.ToolAnnotations) bool {
	return a != nil && a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint)
}

// specOf describes a tool to the model; false if no provider accepts its schema.
func specOf(server string, tool *sdk.Tool) (agent.ToolSpec, bool) {
	schema := json.RawMessage(`{"type":"object","properties":{}}`)
	if tool.InputSchema != nil {
		encoded, err := session.Encode(tool.InputSchema)
		var kind struct {
			Type string `json:"type"`
		}
		if err != nil || len(encoded) > maxSchema || json.Unmarshal(encoded, &kind) != nil || kind.Type != "object" {
			return agent.ToolSpec{}, false
		}
		schema = encoded
	}
	description := strings.TrimSpace(strings.ToValidUTF8(cmp.Or(tool.Description, tool.Title, tool.Name), "\uFFFD"))
	if len(description) > maxDescription {
		description = visible.Head(description, maxDescription) + " ..."
	}
	return agent.ToolSpec{Name: prefix(server) + clean(tool.Name), Description: description, Parameters: schema}, true
}

// clean removes the characters that providers do not accept in a name.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// makeUnique appends part of a hash of the server and tool to names that are too long or
// equal. The same tool has the same name in every turn with the same tools, and never
// another tool's name.
func makeUnique(tools []remoteTool) {
	count := map[string]int{}
	for _, t := range tools {
		count[t.spec.Name]++
	}
	for i, t := range tools {
		if name := t.spec.Name; count[name] > 1 || len(name) > maxName {
			sum := sha256.Sum256([]byte(t.server.spec.name + "\x00" + t.remote))
			tools[i].spec.Name = name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
		}
	}
}
