package cli

import (
	"context"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP is a small MCP server for scripts, as the program testmcp.
func serveMCP() {
	s := sdk.NewServer(&sdk.Implementation{Name: "testmcp", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greets somebody."},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Name string `json:"name"`
		}) (*sdk.CallToolResult, any, error) {
			text := os.Getenv("GREETING") + " " + in.Name
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
		})
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		os.Exit(1)
	}
}
