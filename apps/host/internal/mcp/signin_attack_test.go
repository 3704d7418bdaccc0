package mcp_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/mcpauth/authtest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// protected returns a world with one protected server named docs.
func protected(t *testing.T, change func(*authtest.Server, *authtest.Resource)) (*signs, *authtest.Server, *authtest.Resource) {
	t.Helper()
	issuer := authtest.New(t)
	docs := issuer.Protect(t, reading())
	if change != nil {
		change(issuer, docs)
	}
	return newSigns(t, map[string]state.MCPServer{"docs": {URL: docs.Endpoint, StartTimeout: 60}}, nil, host(issuer.URL)), issuer, docs
}

func (s *signs) begin(t *testing.T, name string) mcpauth.Begun {
	t.Helper()
	begun, err := s.SignIn(t.Context(), s.folder, name, "cli_1")
	if err != nil {
		t.Fatal(err)
	}
	return begun
}

// with returns an address with a changed query.
func with(t *testing.T, address string, change func(url.Values)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	change(q)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestASignInIsBoundToItsIssuer: a response that names another authorization server, or none, is
// not exchanged. No code reaches any token endpoint.
func TestASignInIsBoundToItsIssuer(t *testing.T) {
	for name, answer := range map[string]func(url.Values){
		"another issuer":     func(v url.Values) { v.Set("iss", "https://evil.example") },
		"no issuer":          func(v url.Values) { v.Del("iss") },
		"an issuer twice":    func(v url.Values) { v.Add("iss", "https://evil.example") },
		"the issuer with /":  func(v url.Values) { v.Set("iss", v.Get("iss")+"/") },
		"an error of theirs": func(v url.Values) { v.Del("code"); v.Set("error", "access_denied") },
	} {
		s, issuer, _ := protected(t, func(i *authtest.Server, _ *authtest.Resource) { i.Answer = answer })
		begun := s.begin(t, "docs")
		if _, status, _ := visit(t, begun.URL, true); status == http.StatusOK {
			t.Errorf("%s: the browser shows success", name)
		}
		if asked := issuer.Asked(); len(asked) != 0 {
			t.Errorf("%s: the token endpoint was asked: %v", name, asked)
		}
		if got := s.status(t, "docs"); got.SignIn != nil && got.SignIn.State == api.MCPSignedIn {
			t.Errorf("%s: signed in", name)
		}
	}
}

// TestCodesOfOtherFlows: a code of another sign-in is refused, also with the right state, and a
// response with another state leaves the sign-in as it was. A response counts once.
func TestCodesOfOtherFlows(t *testing.T) {
	issuer := authtest.New(t)
	first, second := issuer.Protect(t, reading()), issuer.Protect(t, reading())
	s := newSigns(t, map[string]state.MCPServer{"one": {URL: first.Endpoint}, "two": {URL: second.Endpoint}}, nil, host(issuer.URL))
	one, two := s.begin(t, "one"), s.begin(t, "two")
	ofOne, _, _ := visit(t, one.URL, false)
	ofTwo, _, _ := visit(t, two.URL, false)
	code := func(address string) (code, state string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u.Query().Get("code"), u.Query().Get("state")
	}
	codeOne, stateOne := code(ofOne)
	codeTwo, _ := code(ofTwo)
	if err := s.FinishSignIn(t.Context(), two.ID, with(t, ofTwo, func(v url.Values) { v.Set("state", stateOne) })); kindOf(err) != api.KindBadRequest {
		t.Errorf("a response with the state of another flow: %v", err)
	}
	if err := s.FinishSignIn(t.Context(), two.ID, ofOne); kindOf(err) != api.KindBadRequest {
		t.Errorf("the response of another flow: %v", err)
	}
	if err := s.FinishSignIn(t.Context(), one.ID, with(t, ofOne, func(v url.Values) { v.Set("code", codeTwo) })); kindOf(err) != api.KindUnavailable {
		t.Errorf("an injected code: %v", err)
	}
	if err := s.FinishSignIn(t.Context(), one.ID, with(t, ofOne, func(v url.Values) { v.Set("code", codeOne) })); kindOf(err) != api.KindNotFound {
		t.Errorf("a second response of a flow: %v", err)
	}
	if exchanges, _ := issuer.Issued(); exchanges != 0 {
		t.Errorf("%d codes were exchanged", exchanges)
	}
	for _, key := range []string{"one", "two"} {
		if got := s.status(t, key); got.SignIn != nil && got.SignIn.State == api.MCPSignedIn {
			t.Errorf("%s is signed in", key)
		}
	}
}

// TestSignInsGoNowhereElse: a pasted address must be the one of the flow, exactly.
func TestSignInsGoNowhereElse(t *testing.T) {
	s, _, _ := protected(t, nil)
	begun := s.begin(t, "docs")
	right, _, _ := visit(t, begun.URL, false)
	for _, wrong := range []string{
		strings.Replace(right, "127.0.0.1", "127.0.0.2", 1), strings.Replace(right, "http://", "https://", 1), strings.Replace(right, "/callback", "/callback/", 1),
		strings.Replace(right, "http://", "http://x@", 1), right + "#x", "javascript:alert(1)", "file:///callback", "", strings.Split(right, "?")[1],
	} {
		if err := s.FinishSignIn(t.Context(), begun.ID, wrong); kindOf(err) != api.KindBadRequest {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, status, _ := visit(t, strings.Replace(right, "127.0.0.1", "localhost", 1), true); status != http.StatusMisdirectedRequest {
		t.Errorf("by another name the port answers %d", status)
	}
	if err := s.FinishSignIn(t.Context(), begun.ID, right); err != nil {
		t.Errorf("the right address: %v", err)
	}
}

// TestForeignMetadata: metadata about another resource or issuer, without PKCE, with dangerous
// or unencrypted addresses begins no sign-in.
func TestForeignMetadata(t *testing.T) {
	type change = func(*authtest.Server, *authtest.Resource)
	ofServer := func(key string, value any) change {
		return func(i *authtest.Server, _ *authtest.Resource) { i.Metadata = func(m map[string]any) { m[key] = value } }
	}
	ofResource := func(key string, value any) change {
		return func(_ *authtest.Server, r *authtest.Resource) { r.Metadata = func(m map[string]any) { m[key] = value } }
	}
	almost := func(i *authtest.Server, _ *authtest.Resource) { // the SDK takes both for the same
		i.Metadata = func(m map[string]any) { m["issuer"] = i.URL + "/" }
	}
	for name, lie := range map[string]change{
		"another resource":        ofResource("resource", "https://mcp.victim.example/mcp"),
		"no server":               ofResource("authorization_servers", []string{}),
		"a script as server":      ofResource("authorization_servers", []string{"javascript:alert(1)"}),
		"an unencrypted server":   ofResource("authorization_servers", []string{"http://auth.example"}),
		"another issuer":          ofServer("issuer", "https://auth.victim.example"),
		"almost the issuer":       almost,
		"no PKCE":                 ofServer("code_challenge_methods_supported", []string{"plain"}),
		"a script to open":        ofServer("authorization_endpoint", "javascript:alert(document.domain)//"),
		"a file to open":          ofServer("authorization_endpoint", "file:///etc/passwd"),
		"an app to open":          ofServer("authorization_endpoint", "ms-settings:network"),
		"no page to open":         ofServer("authorization_endpoint", ""),
		"unencrypted tokens":      ofServer("token_endpoint", "http://auth.example/token"),
		"a user name in the page": ofServer("authorization_endpoint", "https://good.example@evil.example/"),
	} {
		s, _, _ := protected(t, lie)
		if begun, err := s.SignIn(t.Context(), s.folder, "docs", "cli_1"); err == nil {
			t.Errorf("%s: the person is sent to %s", name, begun.URL)
		}
	}
}

// TestAnIssuerOfTheConfiguration: a configured client is used at its authorization server only.
func TestAnIssuerOfTheConfiguration(t *testing.T) {
	issuer := authtest.New(t)
	docs := issuer.Protect(t, reading())
	config := state.MCPServer{URL: docs.Endpoint, OAuth: state.MCPOAuth{ClientID: "ours", ClientSecret: "hush", Issuer: "https://auth.example"}}
	s := newSigns(t, map[string]state.MCPServer{"docs": config}, nil, host(issuer.URL))
	if _, err := s.SignIn(t.Context(), s.folder, "docs", "cli_1"); kindOf(err) != api.KindConflict {
		t.Errorf("another issuer: %v", err)
	}
	if asked := issuer.Asked(); len(asked) != 0 {
		t.Errorf("the other issuer was asked: %v", asked)
	}
}

// TestTokensStayWithTheirServer: a server that redirects, or another one with the same name in
// another project or at another address, never receives the token.
func TestTokensStayWithTheirServer(t *testing.T) {
	var stolen atomic.Value
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if header := r.Header.Get("Authorization"); header != "" {
			stolen.Store(header)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer thief.Close()
	var redirect atomic.Bool
	s, issuer, docs := protected(t, func(_ *authtest.Server, r *authtest.Resource) {
		r.Redirect = func(*http.Request) string {
			if redirect.Load() {
				return thief.URL
			}
			return ""
		}
	})
	s.signIn(t, "docs", true)
	if got := s.call(t, t.Context(), "mcp__docs__echo", `{"text":"hi"}`); got.IsError {
		t.Fatalf("the call says %+v", got)
	}
	tools := s.Tools(t.Context(), s.folder)
	redirect.Store(true)
	if got := run(t, tools, "mcp__docs__echo", `{"text":"hi"}`); !got.IsError {
		t.Errorf("the redirected call says %+v", got)
	}
	if asked := issuer.Asked(); len(asked) != 1 {
		t.Errorf("a refusal of another server had tokens refreshed: %v", asked)
	}
	redirect.Store(false)
	text := fmt.Sprintf(`{"mcpServers":{"other":{"url":%q},"docs2":{"url":%q}}}`, thief.URL, docs.Endpoint)
	if err := os.WriteFile(filepath.Join(s.folder, ".mcp.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"other", "docs2"} {
		if _, err := s.Decide(s.folder, server, s.status(t, server).Hash, true, "host"); err != nil {
			t.Fatal(err)
		}
	}
	seen := len(docs.Seen())
	s.Tools(t.Context(), s.folder)
	s.await(t, "docs2", func(m api.MCPServer) bool { return m.State == api.MCPNeedsSignIn })
	for _, header := range docs.Seen()[seen:] {
		if header != "" {
			t.Error("a server of a project got the token of the user's own")
		}
	}
	if got := stolen.Load(); got != nil {
		t.Errorf("another server received %v", got)
	}
}

// TestTokensAreKeptToThemselves: the file is private, and neither logs nor what people are shown
// have a token, a code, a verifier or a state.
func TestTokensAreKeptToThemselves(t *testing.T) {
	var log bytes.Buffer
	issuer := authtest.New(t)
	docs := issuer.Protect(t, reading())
	s := newSigns(t, map[string]state.MCPServer{"docs": {URL: docs.Endpoint, StartTimeout: 60}}, slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}), host(issuer.URL))
	s.signIn(t, "docs", false)
	s.call(t, t.Context(), "mcp__docs__echo", `{"text":"hi"}`)
	issuer.Expire(true)
	s.call(t, t.Context(), "mcp__docs__echo", `{"text":"hi"}`)
	shown := fmt.Sprintf("%+v %+v", s.status(t, "docs"), *s.status(t, "docs").SignIn)
	s.Close()
	info, err := os.Stat(s.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	secrets := []string{"access-", "refresh-"}
	for _, form := range issuer.Asked() {
		secrets = append(secrets, form.Get("code"), form.Get("code_verifier"))
	}
	for _, secret := range secrets {
		if secret != "" && (strings.Contains(log.String(), secret) || strings.Contains(shown, secret)) {
			t.Errorf("%q is in the log or shown", secret)
		}
	}
	if !strings.Contains(log.String(), "signed in to an MCP server") {
		t.Error("the log says nothing of the sign-in")
	}
}

// TestMetadataIsNoWayIn: documents that are huge, slow, or lead to addresses of this machine
// and its network are refused, and nothing of the network is asked.
func TestMetadataIsNoWayIn(t *testing.T) {
	var inside, redirected atomic.Int32
	internal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside.Add(1)
		fmt.Fprint(w, "{}")
	}))
	defer internal.Close()
	done := make(chan struct{})
	for name, answer := range map[string]http.HandlerFunc{
		"redirects to this machine": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, internal.URL, http.StatusFound) },
		"redirects without end": func(w http.ResponseWriter, r *http.Request) {
			redirected.Add(1)
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		},
		"redirects to plain http": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://auth.example/", http.StatusFound)
		},
		"redirects to a file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
		"names this machine": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":"http://%s/mcp","authorization_servers":[%q]}`, r.Host, internal.URL)
		},
		"names many servers": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":"http://%s/mcp","authorization_servers":[%s"https://a.example"]}`, r.Host, strings.Repeat(`"https://a.example",`, 100))
		},
		"is huge": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":"http://%s/mcp","x":"%s"}`, r.Host, strings.Repeat("x", 2<<20))
		},
		"is slow": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-done:
			}
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/") {
				answer(w, r)
				return
			}
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://`+r.Host+`/.well-known/x"`)
			w.WriteHeader(http.StatusUnauthorized)
		}))
		s := newSigns(t, map[string]state.MCPServer{"docs": {URL: server.URL + "/mcp"}}, nil)
		if begun, err := s.SignIn(t.Context(), s.folder, "docs", "cli_1"); err == nil {
			t.Errorf("metadata that %s: the person is sent to %s", name, begun.URL)
		} else if len(err.Error()) > 600 {
			t.Errorf("metadata that %s: an error of %d bytes", name, len(err.Error()))
		}
		server.CloseClientConnections()
		server.Close()
	}
	close(done)
	if n := inside.Load(); n != 0 {
		t.Errorf("%d requests reached a server inside", n)
	}
	if n := redirected.Load(); n == 0 || n > 20 { // five documents, each with three redirects
		t.Errorf("%d requests were redirected", n)
	}
}
