package mcp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/mcpauth/authtest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// signs is a world whose servers are protected by an authorization server.
type signs struct {
	*world
	auth *mcpauth.Auth
	file string // of the sign-ins
}

// newSigns returns a world with servers by name. open lists the addresses besides those of the
// servers to which the host may connect.
func newSigns(t *testing.T, servers map[string]state.MCPServer, log slog.Handler, open ...string) *signs {
	t.Helper()
	s := &signs{file: filepath.Join(t.TempDir(), "sign-ins.json")}
	signIns, err := state.LoadSignIns(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.world = newWorld(t, func(o *mcp.Options) {
		if log != nil {
			o.Logger = slog.New(log)
		}
		s.auth = mcpauth.New(mcpauth.Options{
			Logger: o.Logger, SignIns: signIns, Timeout: 2 * time.Second,
			Refuse: func(address string) error {
				if at, err := netip.ParseAddrPort(address); err == nil && slices.Contains(open, at.String()) {
					return nil
				}
				return errors.New("its address is not public")
			},
			Changed: func(key state.SignInKey, signedIn bool) {
				if signedIn {
					s.SignedIn(key)
				}
			},
		})
		o.Servers, o.Auth = servers, s.auth
	})
	return s
}

func host(address string) string { return strings.TrimPrefix(address, "http://") }

// visit opens an address as a browser does, and returns where it ended.
func visit(t *testing.T, address string, follow bool) (final string, status int, body string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		if follow {
			return nil
		}
		return http.ErrUseLastResponse
	}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !follow {
		return answer.Header.Get("Location"), answer.StatusCode, string(text)
	}
	return answer.Request.URL.String(), answer.StatusCode, string(text)
}

// reading returns a server with two tools.
func reading() *sdk.Server {
	s := newServer(nil)
	sdk.AddTool(s, &sdk.Tool{Name: "write", Description: "Needs the scope write."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "written"}}}, nil, nil
	})
	return s
}

// TestSignIn: a server asks for a sign-in, a person signs in with a browser on the machine or
// elsewhere, tools work, tokens are refreshed, more scopes are asked for, and signing out revokes.
func TestSignIn(t *testing.T) {
	for _, here := range []bool{true, false} {
		issuer := authtest.New(t)
		docs := issuer.Protect(t, reading())
		s := newSigns(t, map[string]state.MCPServer{"docs": {URL: docs.Endpoint, StartTimeout: 60}}, nil, host(issuer.URL))
		if tools := s.Tools(t.Context(), s.folder); len(tools) != 0 {
			t.Fatalf("without a sign-in there are the tools %q", names(tools))
		}
		if got := s.status(t, "docs"); got.State != api.MCPNeedsSignIn || got.SignIn == nil || got.SignIn.State != api.MCPSignedOut {
			t.Fatalf("the server is %+v", got)
		}
		s.signIn(t, "docs", here)
		s.await(t, "docs", func(m api.MCPServer) bool { return m.State == api.MCPReady })
		if got := s.status(t, "docs").SignIn; got == nil || got.State != api.MCPSignedIn || got.Issuer != issuer.URL || !slices.Equal(got.Scopes, []string{"read"}) {
			t.Errorf("the sign-in is %+v", got)
		}
		if got := s.call(t, t.Context(), "mcp__docs__echo", `{"text":"hi"}`); got.Content.Plain() != "echo: hi" {
			t.Fatalf("the call says %+v", got)
		}
		issuer.Expire(false)
		if got := s.call(t, t.Context(), "mcp__docs__echo", `{"text":"again"}`); got.Content.Plain() != "echo: again" {
			t.Fatalf("after the token ended, the call says %+v", got)
		}
		if _, refreshes := issuer.Issued(); refreshes != 1 {
			t.Errorf("the token was refreshed %d times", refreshes)
		}
		if got := s.call(t, t.Context(), "mcp__docs__write", `{}`); !got.IsError || !strings.Contains(got.Content.Plain(), "it needs write") {
			t.Fatalf("a call without its scope says %q", got.Content.Plain())
		}
		if got := s.status(t, "docs"); got.State != api.MCPReady || got.SignIn.State != api.MCPMoreScopes || !slices.Equal(got.SignIn.Wanted, []string{"write"}) {
			t.Errorf("after it the server is %+v, %+v", got, got.SignIn)
		}
		s.signIn(t, "docs", here)
		if got := s.call(t, t.Context(), "mcp__docs__write", `{}`); got.Content.Plain() != "written" {
			t.Errorf("with more scopes the call says %+v", got)
		}
		if got := s.status(t, "docs").SignIn; !slices.Equal(got.Scopes, []string{"read", "write"}) {
			t.Errorf("the scopes are %q: what was granted before is kept", got.Scopes)
		}
		issuer.Expire(true)
		if got := s.call(t, t.Context(), "mcp__docs__echo", `{"text":"x"}`); !got.IsError || !strings.Contains(got.Content.Plain(), "scorel mcp login docs") {
			t.Errorf("after the sign-in ended, the call says %q", got.Content.Plain())
		}
		s.await(t, "docs", func(m api.MCPServer) bool { return m.State == api.MCPNeedsSignIn })
		s.signIn(t, "docs", here)
		s.await(t, "docs", func(m api.MCPServer) bool { return m.State == api.MCPReady })
		if live := issuer.Live(docs.Endpoint); live != 1 {
			t.Errorf("there are %d tokens", live)
		}
		if got, err := s.SignOut(t.Context(), s.folder, "docs"); err != nil || got.SignIn != nil {
			t.Errorf("signed out: %+v, %v", got, err)
		}
		if live := issuer.Live(docs.Endpoint); live != 0 {
			t.Errorf("after signing out %d tokens are valid", live)
		}
		if _, err := s.SignOut(t.Context(), s.folder, "docs"); kindOf(err) != api.KindConflict {
			t.Errorf("signed out twice: %v", err)
		}
	}
}

// signIn signs in with a browser here, or with one elsewhere whose address is pasted.
func (s *signs) signIn(t *testing.T, name string, here bool) {
	t.Helper()
	begun, err := s.SignIn(t.Context(), s.folder, name, "cli_1")
	if err != nil {
		t.Fatal(err)
	}
	if here {
		if _, status, body := visit(t, begun.URL, true); status != http.StatusOK {
			t.Fatalf("the browser shows %d: %s", status, body)
		}
	} else {
		address, _, _ := visit(t, begun.URL, false)
		if err := s.FinishSignIn(t.Context(), begun.ID, "  "+address+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if problem, ended, err := s.AwaitSignIn(t.Context(), begun.ID); problem != "" || !ended || err != nil {
		t.Fatalf("the sign-in: ended %t, %q, %v", ended, problem, err)
	}
}
