package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/packages/leakcheck"
)

// serverMode makes this test binary a server: its value selects which one.
const serverMode = "SCOREL_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverMode); mode != "" {
		serve(mode)
		return
	}
	leakcheck.Main(m)
}

func serve(mode string) {
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "the license has run out")
		os.Exit(3)
	case "deaf": // reads nothing, writes nothing, and does not exit when asked to
		deaf()
	case "flood":
		flood()
		return
	case "child": // a server that leaves a child behind
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(os.Getenv("PID_FILE"), []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	if err := newServer(nil).Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) {
		log.Print(err)
	}
}

type text struct {
	Text string `json:"text"`
}

// newServer is a small real server. quit ends the call that hangs.
func newServer(quit <-chan struct{}) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	say := func(format string, args ...any) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again."}, func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		return say("echo: %s", in.Text), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "env", Description: "Reads a variable."}, func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		return say("%s=%s", in.Text, os.Getenv(in.Text)), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail", Description: "Fails."}, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("no such thing")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "crash", Description: "Ends the server."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang", Description: "Never answers."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-quit:
		}
		return nil, nil, errors.New("it was ended")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "walk", Description: "Tells how far it is."}, func(ctx context.Context, request *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			err := request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: request.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: fmt.Sprint("step ", i+1),
			})
			if err != nil {
				return nil, nil, err
			}
		}
		// A response may overtake notifications, but a request sent after them does not.
		return say("there"), nil, request.Session.Ping(ctx, nil)
	})
	sdk.AddTool(s, &sdk.Tool{Name: "grow", Description: "Adds a tool."}, func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		sdk.AddTool(s, &sdk.Tool{Name: in.Text, Description: "New."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return say("new"), nil, nil
		})
		return say("grown"), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "picture", Description: "Shows a picture."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.ImageContent{Data: gif, MIMEType: "image/png"}, &sdk.ImageContent{Data: []byte("x"), MIMEType: "image/tiff"},
			&sdk.ResourceLink{URI: "file:///x", Name: "x"},
		}}, nil, nil
	})
	return s
}

// gif is an image of one pixel, whatever type is declared.
var gif = []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;")

// overHTTP serves the same over streamable HTTP to clients with the token. release ends
// hanging calls, which would block the end of a session.
func overHTTP(t *testing.T, token string) (url string, release func()) {
	quit := make(chan struct{})
	server := newServer(quit)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.Header.Get("Authorization"), token) {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL, sync.OnceFunc(func() { close(quit) })
}
