// Package mcpauth signs in to MCP servers over HTTP with OAuth 2.1.
//
// A server that answers 401 or 403 names its authorization server in metadata (RFC 9728,
// RFC 8414). A person opens the authorization URL in any browser. The response reaches the
// host at a port of 127.0.0.1, or the person pastes the address to which the browser was sent.
// Each flow has its own state, PKCE verifier, port and issuer, works once, and ends after
// Lifetime.
//
// Tokens are requested for one resource (RFC 8707), kept under the server's name and address,
// and sent to the origin of that address only. Documents and token endpoints are fetched over
// https, from public addresses and those that Options.Refuse opens. Nothing here is logged
// but names of servers and domains.
package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Lifetime is how long a person has to sign in.
const Lifetime = 10 * time.Minute

const (
	maxFlows       = 16
	requestTimeout = 20 * time.Second
	// early is how long before its end a token is refreshed.
	early = 30 * time.Second
)

// Options configure an Auth. All fields but Timeout and ClientURL are required.
type Options struct {
	Logger  *slog.Logger
	SignIns *state.SignIns
	// Refuse returns why the host does not connect to an address with a port, or nil.
	Refuse func(address string) error
	// ClientURL is the address of the document that describes this client; "" has none.
	ClientURL string
	// Timeout bounds each request; 0 is 20 seconds.
	Timeout time.Duration
	// Changed is called after the sign-in of a server changed. signedIn is true if it has one
	// that has just been made.
	Changed func(key state.SignInKey, signedIn bool)
}

// Server is a server to sign in to.
type Server struct {
	Key   state.SignInKey
	OAuth state.MCPOAuth // the secret is expanded
}

// Auth signs in to servers. Its methods may be called from any goroutine.
type Auth struct {
	options Options
	ctx     context.Context // its end stops the flows
	cancel  context.CancelFunc
	ending  sync.WaitGroup

	mu         sync.Mutex
	flows      map[string]*flow // by id
	challenges map[state.SignInKey]Challenge
	refreshing map[state.SignInKey]*sync.Mutex
	closed     bool
}

// New returns an Auth without flows. Close ends it.
func New(o Options) *Auth {
	if o.Timeout == 0 {
		o.Timeout = requestTimeout
	}
	a := &Auth{options: o, flows: map[string]*flow{}, challenges: map[state.SignInKey]Challenge{}, refreshing: map[state.SignInKey]*sync.Mutex{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// Close ends all flows and waits for them.
func (a *Auth) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.ending.Wait()
}

// Challenge is what a server answered when it refused a request.
type Challenge struct {
	Metadata string   // address of the resource's metadata; "" if it named none
	Scopes   []string // that it asked for
	More     bool     // the token is valid, and has too few scopes
}

// Status is what people are shown of a server's sign-in; nil if it neither needs nor has one.
func (a *Auth) Status(key state.SignInKey) *api.MCPSignIn {
	have, signedIn := a.options.SignIns.Find(key)
	a.mu.Lock()
	challenge, challenged := a.challenges[key]
	a.mu.Unlock()
	switch {
	case signedIn && challenged && challenge.More:
		return &api.MCPSignIn{State: api.MCPMoreScopes, Issuer: have.Issuer, Since: have.SignedInAt, Scopes: have.Scopes, Wanted: challenge.Scopes}
	case challenged:
		return &api.MCPSignIn{State: api.MCPSignedOut, Wanted: challenge.Scopes}
	case signedIn:
		return &api.MCPSignIn{State: api.MCPSignedIn, Issuer: have.Issuer, Since: have.SignedInAt, Scopes: have.Scopes}
	}
	return nil
}

// challenged records that a server refused a request.
func (a *Auth) challenged(key state.SignInKey, c Challenge) {
	a.mu.Lock()
	before, known := a.challenges[key]
	if len(a.challenges) < maxFlows*maxFlows || known {
		a.challenges[key] = c
	}
	a.mu.Unlock()
	if !known || before.More != c.More || !slices.Equal(before.Scopes, c.Scopes) {
		a.options.Changed(key, false)
	}
}

// settled records that a server accepted a sign-in.
func (a *Auth) settled(key state.SignInKey) {
	a.mu.Lock()
	delete(a.challenges, key)
	a.mu.Unlock()
	a.options.Changed(key, true)
}

// SignOut removes the sign-in of a server, and revokes its tokens if the authorization server
// supports that. The tokens are removed even if revoking fails, which is an error of the kind
// unavailable.
func (a *Auth) SignOut(ctx context.Context, key state.SignInKey) error {
	have, ok := a.options.SignIns.Find(key)
	if !ok {
		return api.Errorf(api.KindConflict, "there is no sign-in for the server %s", key.Server)
	}
	if err := a.options.SignIns.Remove(key); err != nil {
		return fmt.Errorf("mcpauth: signing out: %w", err)
	}
	a.options.Changed(key, false)
	if have.RevocationEndpoint == "" {
		return nil
	}
	if err := a.revoke(ctx, have); err != nil {
		return api.Errorf(api.KindUnavailable, "the tokens were deleted here but not revoked at %s (%v): remove the access there", host(have.Issuer), err)
	}
	return nil
}

// revoke revokes the tokens of a sign-in (RFC 7009).
func (a *Auth) revoke(ctx context.Context, s state.SignIn) error {
	token, kind := s.RefreshToken, "refresh_token"
	if token == "" {
		token, kind = s.AccessToken, "access_token"
	}
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	ctx, cancel := context.WithTimeout(ctx, a.options.Timeout)
	defer cancel()
	if !s.InHeader {
		form.Set("client_id", s.ClientID)
		if s.ClientSecret != "" {
			form.Set("client_secret", s.ClientSecret)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.RevocationEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("its revocation endpoint is not an address")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if s.InHeader {
		request.SetBasicAuth(url.QueryEscape(s.ClientID), url.QueryEscape(s.ClientSecret))
	}
	client, idle := a.client(s.URL, false)
	defer idle()
	answer, err := client.Do(request)
	if err != nil {
		return reason(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered with HTTP status %d", answer.StatusCode)
	}
	return nil
}

// Forget removes the sign-ins of a server that was deleted.
func (a *Auth) Forget(project, server string) error {
	for _, have := range a.options.SignIns.Of(project, server) {
		if err := a.options.SignIns.Remove(have.SignInKey); err != nil {
			return fmt.Errorf("mcpauth: removing a sign-in: %w", err)
		}
		a.mu.Lock()
		delete(a.challenges, have.SignInKey)
		a.mu.Unlock()
	}
	return nil
}

// host returns the domain of a URL, for people.
func host(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the server"
	}
	return u.Host
}
