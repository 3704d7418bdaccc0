package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/scorel/scorel/apps/host/internal/state"
)

// ErrSignIn is the error of requests that need a person to sign in.
var ErrSignIn = errors.New("a person must sign in to the server")

// ScopeError is the error of a request for which the token has too few scopes.
type ScopeError struct{ Scopes []string }

func (e *ScopeError) Error() string {
	if len(e.Scopes) == 0 {
		return "the sign-in does not allow this"
	}
	return "the sign-in does not allow this: it needs " + strings.Join(e.Scopes, ", ")
}

// Unwrap says that signing in again helps.
func (*ScopeError) Unwrap() error { return ErrSignIn }

// Handler gives the requests to one server its tokens. It implements auth.OAuthHandler of the
// SDK; its Authorize asks no one, but refreshes a token or records that a person must sign in.
type Handler struct {
	auth *Auth
	key  state.SignInKey
}

// Handler returns the handler of a server.
func (a *Auth) Handler(key state.SignInKey) *Handler { return &Handler{a, key} }

// TokenSource implements auth.OAuthHandler.
func (h *Handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	if _, ok := h.auth.options.SignIns.Find(h.key); !ok {
		return nil, nil
	}
	return tokenSource{ctx, h}, nil
}

type tokenSource struct {
	ctx context.Context
	h   *Handler
}

// Token implements oauth2.TokenSource.
func (t tokenSource) Token() (*oauth2.Token, error) {
	have, ok := t.h.auth.options.SignIns.Find(t.h.key)
	if ok && have.ExpiresAt > 0 && time.Until(time.UnixMilli(have.ExpiresAt)) < early && have.RefreshToken != "" {
		refreshed, err := t.h.auth.refresh(t.ctx, have)
		if err != nil && !time.Now().Before(time.UnixMilli(have.ExpiresAt)) {
			return nil, fmt.Errorf("the token cannot be refreshed: %w", reason(err))
		}
		if err == nil {
			have = refreshed
		}
	}
	if have.AccessToken == "" {
		return nil, ErrSignIn
	}
	return &oauth2.Token{AccessToken: have.AccessToken, TokenType: "Bearer"}, nil
}

// Authorize implements auth.OAuthHandler.
func (h *Handler) Authorize(ctx context.Context, request *http.Request, answer *http.Response) error {
	defer func() { _ = answer.Body.Close() }()
	if origin(request.URL.String()) != origin(h.key.URL) || answer.Request != nil && origin(answer.Request.URL.String()) != origin(h.key.URL) {
		return errors.New("another server refused the request, to which this one redirected")
	}
	challenge := challengeOf(answer)
	if answer.StatusCode == http.StatusForbidden {
		if !challenge.More {
			return errors.New("the server refused the request with HTTP status 403")
		}
		h.auth.challenged(h.key, challenge)
		return &ScopeError{challenge.Scopes}
	}
	challenge.More = false
	if have, ok := h.auth.options.SignIns.Find(h.key); ok {
		if sent := request.Header.Get("Authorization"); sent != "Bearer "+have.AccessToken {
			return nil // the token was replaced in the meantime
		}
		if have.RefreshToken != "" {
			if _, err := h.auth.refresh(ctx, have); err == nil {
				return nil
			} else if !refused(err) {
				return fmt.Errorf("the token cannot be refreshed: %w", reason(err))
			}
		}
	}
	h.auth.challenged(h.key, challenge)
	return ErrSignIn
}

// refused reports whether an authorization server no longer accepts a refresh token.
func refused(err error) bool {
	var answer *oauth2.RetrieveError
	return errors.As(err, &answer) && answer.Response.StatusCode < 500
}

// challengeOf reads the challenge of a server.
func challengeOf(answer *http.Response) (c Challenge) {
	challenges, err := oauthex.ParseWWWAuthenticate(answer.Header.Values("WWW-Authenticate"))
	if err != nil {
		return c
	}
	for _, one := range challenges {
		if one.Scheme != "bearer" {
			continue
		}
		c.More = c.More || one.Params["error"] == "insufficient_scope"
		if c.Metadata == "" && len(one.Params["resource_metadata"]) <= maxURL {
			c.Metadata = one.Params["resource_metadata"]
		}
		c.Scopes = union(c.Scopes, strings.Fields(one.Params["scope"]))
	}
	return c
}

// refresh replaces the tokens of a sign-in. Of several callers one asks the authorization
// server, and the others use what it got.
func (a *Auth) refresh(ctx context.Context, before state.SignIn) (state.SignIn, error) {
	a.mu.Lock()
	turn := a.refreshing[before.SignInKey]
	if turn == nil {
		turn = &sync.Mutex{}
		a.refreshing[before.SignInKey] = turn
	}
	a.mu.Unlock()
	turn.Lock()
	defer turn.Unlock()
	have, ok := a.options.SignIns.Find(before.SignInKey)
	if !ok {
		return before, ErrSignIn
	}
	if have.AccessToken != before.AccessToken {
		return have, nil
	}
	client, idle := a.client(have.URL, false)
	defer idle()
	style := oauth2.AuthStyleInParams
	if have.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	config := &oauth2.Config{ClientID: have.ClientID, ClientSecret: have.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: have.TokenEndpoint, AuthStyle: style}}
	// The answer may have the only new refresh token, so it is awaited and stored even if the
	// request that needs it ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.options.Timeout)
	defer cancel()
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", have.RefreshToken), oauth2.SetAuthURLParam("resource", have.Resource))
	if err == nil {
		err = checkToken(token)
	}
	if err != nil {
		a.options.Logger.Warn("the token of an MCP server was not refreshed", "server", have.Server, "issuer", host(have.Issuer))
		return have, err
	}
	after := withToken(have, token)
	if err := a.options.SignIns.Refresh(have, after); err != nil {
		return have, err
	}
	return after, nil
}
