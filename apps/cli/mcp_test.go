package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scorel/scorel/apps/host/hosttest"
)

// browse opens a link as a browser does, as the program xdg-open.
func browse() {
	answer, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, answer.StatusCode, string(text), err)
		os.Exit(1)
	}
}

// scriptScope ends with its script.
type scriptScope struct{ *testscript.TestScript }

func (scriptScope) Helper()             {}
func (s scriptScope) Cleanup(do func()) { s.Defer(do) }

func cmdProtect(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 1)
	server, issuer := hosttest.Protected(scriptScope{ts})
	ts.Setenv(args[0]+"_url", server)
	ts.Setenv(args[0]+"_issuer", strings.TrimPrefix(issuer, "http://"))
}

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
	sdk.AddTool(s, &sdk.Tool{Name: "book", Description: "Books a room."},
		func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			answer, ok := r.Params.InputResponses["room"].(*sdk.ElicitResult)
			if !ok {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"room": &sdk.ElicitParams{Message: "Book a room", RequestedSchema: json.RawMessage(
					`{"type":"object","properties":{"people":{"type":"integer","title":"People","minimum":1,"maximum":9}},"required":["people"]}`)}}}, nil, nil
			}
			text := fmt.Sprintf("%s %v", answer.Action, answer.Content["people"])
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
		})
	s.AddResource(&sdk.Resource{URI: "doc://rules", Name: "rules", Title: "House rules"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "doc://rules", Text: "No shoes inside."}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "tidy", Description: "Tidies a room.", Arguments: []*sdk.PromptArgument{{Name: "room", Required: true}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Tidy " + r.Params.Arguments["room"]}}}}, nil
	})
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		os.Exit(1)
	}
}
