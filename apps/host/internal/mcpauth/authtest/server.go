// Package authtest has an authorization server and MCP servers that it protects, for tests. The
// server is strict: it compares redirect URIs, clients and resources exactly, requires PKCE with
// S256, gives each code and each refresh token out for one use, and binds tokens to a resource.
package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Scope is what a server lives as long as; testing.TB is one.
type Scope interface {
	Helper()
	Cleanup(func())
}

// Server is an authorization server on a socket.
type Server struct {
	*httptest.Server
	// Metadata, Register and Answer change what it says, if they are set before it is used.
	Metadata func(map[string]any)
	Answer   func(url.Values)
	// ExpiresIn is the life of tokens in seconds; 0 says nothing of it.
	ExpiresIn int

	mu      sync.Mutex
	clients map[string][]string // redirect URIs by client id
	codes   map[string]code
	tokens  map[string]Token
	refresh map[string]Token
	// Refreshes and Exchanges count the tokens that were issued.
	refreshes, exchanges int
	forms                []url.Values // requests to the token endpoint
}

type code struct{ client, redirect, challenge, resource, scope string }

// Token is an access token.
type Token struct{ Client, Resource, Scope string }

// New starts a server.
func New(t Scope) *Server {
	t.Helper()
	s := &Server{clients: map[string][]string{}, codes: map[string]code{}, tokens: map[string]Token{}, refresh: map[string]Token{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("POST /revoke", s.revoke)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	meta := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	}
	if s.Metadata != nil {
		s.Metadata(meta)
	}
	write(w, http.StatusOK, meta)
}

// Allow registers a client before it is used.
func (s *Server) Allow(client string, redirects ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[client] = redirects
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Redirects) == 0 {
		write(w, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri"})
		return
	}
	id := "client-" + rand.Text()
	s.Allow(id, asked.Redirects...)
	write(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"})
}

// authorize consents at once, as a person who is signed in would.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	redirects, known := s.clients[q.Get("client_id")]
	if !known || !slices.Contains(redirects, q.Get("redirect_uri")) { // never redirects to an address that is not registered
		http.Error(w, "unknown client or redirect URI", http.StatusBadRequest)
		return
	}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("resource") == "" || q.Get("state") == "" {
		http.Error(w, "a parameter is missing", http.StatusBadRequest)
		return
	}
	issued := rand.Text()
	s.codes[issued] = code{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
	answer := url.Values{"code": {issued}, "state": {q.Get("state")}, "iss": {s.URL}}
	if s.Answer != nil {
		s.Answer(answer)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forms = append(s.forms, r.PostForm)
	refuse := func(why string) { write(w, http.StatusBadRequest, map[string]string{"error": why}) }
	var granted Token
	switch form := r.PostForm; form.Get("grant_type") {
	case "authorization_code":
		c, ok := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || c.client != form.Get("client_id") || c.redirect != form.Get("redirect_uri") || c.resource != form.Get("resource") ||
			base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge {
			refuse("invalid_grant")
			return
		}
		granted = Token{c.client, c.resource, c.scope}
		s.exchanges++
	case "refresh_token":
		old, ok := s.refresh[form.Get("refresh_token")]
		delete(s.refresh, form.Get("refresh_token"))
		if !ok || old.Client != form.Get("client_id") || old.Resource != form.Get("resource") {
			refuse("invalid_grant")
			return
		}
		granted = old
		s.refreshes++
	default:
		refuse("unsupported_grant_type")
		return
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	s.tokens[access], s.refresh[refresh] = granted, granted
	answer := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "scope": granted.Scope}
	if s.ExpiresIn > 0 {
		answer["expires_in"] = s.ExpiresIn
	}
	write(w, http.StatusOK, answer)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	revoked, ok := s.refresh[r.PostForm.Get("token")]
	if !ok {
		revoked, ok = s.tokens[r.PostForm.Get("token")]
	}
	if ok {
		for _, list := range []map[string]Token{s.refresh, s.tokens} {
			for text, have := range list {
				if have.Client == revoked.Client {
					delete(list, text)
				}
			}
		}
	}
	w.WriteHeader(http.StatusOK)
}

// Expire ends all access tokens, and with all refresh tokens too.
func (s *Server) Expire(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	if all {
		clear(s.refresh)
	}
}

// Issued returns how often it issued tokens for a code and for a refresh token.
func (s *Server) Issued() (exchanges, refreshes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exchanges, s.refreshes
}

// Asked returns the requests to the token endpoint.
func (s *Server) Asked() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.forms)
}

// Live returns the valid tokens for a resource.
func (s *Server) Live(resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, have := range s.tokens {
		if have.Resource == resource {
			n++
		}
	}
	return n
}

func (s *Server) check(header, resource string) (Token, bool) {
	text, ok := strings.CutPrefix(header, "Bearer ")
	s.mu.Lock()
	defer s.mu.Unlock()
	have, known := s.tokens[text]
	return have, ok && known && have.Resource == resource
}
