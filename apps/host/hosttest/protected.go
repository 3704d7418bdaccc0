package hosttest

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/mcpauth/authtest"
)

// Protected starts an MCP server with a tool named greet that accepts only tokens of a strict
// authorization server, which signs in whoever opens its link. It returns the addresses of both.
func Protected(t authtest.Scope) (server, issuer string) {
	s := sdk.NewServer(&sdk.Implementation{Name: "protected", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greets somebody."},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Name string `json:"name"`
		}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello " + in.Name}}}, nil, nil
		})
	auth := authtest.New(t)
	return auth.Protect(t, s).Endpoint, auth.URL
}
