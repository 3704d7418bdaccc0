package authtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Resource is an MCP server over HTTP that accepts only tokens for itself.
type Resource struct {
	*httptest.Server
	Endpoint string // address of the server
	// Metadata changes its metadata; Redirect, if it returns an address, answers with a
	// redirect. They are set before the server is used.
	Metadata func(map[string]any)
	Redirect func(*http.Request) string

	auth *Server

	mu   sync.Mutex
	seen []string // Authorization headers
}

// Protect serves an MCP server at /mcp. A call of the tool named write needs the scope write;
// everything else needs read.
func (s *Server) Protect(t Scope, server *sdk.Server) *Resource {
	t.Helper()
	r := &Resource{auth: s}
	// A stateless server speaks the revision 2026-07-28 too.
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", r.metadata)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, request *http.Request) { r.serve(w, request, handler) })
	r.Server = httptest.NewServer(mux)
	r.Endpoint = r.URL + "/mcp"
	t.Cleanup(r.Close)
	return r
}

func (r *Resource) metadata(w http.ResponseWriter, _ *http.Request) {
	meta := map[string]any{"resource": r.Endpoint, "authorization_servers": []string{r.auth.URL}, "scopes_supported": []string{"read"}}
	if r.Metadata != nil {
		r.Metadata(meta)
	}
	write(w, http.StatusOK, meta)
}

func (r *Resource) serve(w http.ResponseWriter, request *http.Request, handler http.Handler) {
	header := request.Header.Get("Authorization")
	r.mu.Lock()
	r.seen = append(r.seen, header)
	r.mu.Unlock()
	if r.Redirect != nil {
		if to := r.Redirect(request); to != "" {
			http.Redirect(w, request, to, http.StatusTemporaryRedirect)
			return
		}
	}
	named := `Bearer resource_metadata="` + r.URL + `/.well-known/oauth-protected-resource/mcp"`
	token, ok := r.auth.check(header, r.Endpoint)
	if !ok {
		w.Header().Set("WWW-Authenticate", named)
		http.Error(w, "sign in", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	var call struct {
		Params struct{ Name string }
	}
	_ = json.Unmarshal(body, &call) // other messages have no name
	if call.Params.Name == "write" && !slices.Contains(strings.Fields(token.Scope), "write") {
		w.Header().Set("WWW-Authenticate", named+`, error="insufficient_scope", scope="write"`)
		http.Error(w, "more scopes", http.StatusForbidden)
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	handler.ServeHTTP(w, request)
}

// Seen returns the Authorization headers that it received.
func (r *Resource) Seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}
