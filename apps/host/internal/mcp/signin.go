package mcp

import (
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// signInKey returns what the sign-in of a server is kept under; nil for a server that does not
// sign in: one that is started, or that has an Authorization header.
func (m *Manager) signInKey(s spec, folder string) *state.SignInKey {
	if m.options.Auth == nil || s.fault != "" || s.definition.URL == "" {
		return nil
	}
	for name := range s.definition.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	expanded, err := s.definition.expand(m.options.Getenv, m.options.Withheld)
	if err != nil {
		return nil
	}
	key := state.SignInKey{Server: s.name, URL: expanded.URL}
	if s.source == SourceProject {
		key.Project = m.origin(folder)
	}
	return &key
}

// signIn returns what people are shown of a server's sign-in.
func (m *Manager) signIn(s spec, folder string) *api.MCPSignIn {
	if key := m.signInKey(s, folder); key != nil {
		return m.options.Auth.Status(*key)
	}
	return nil
}

// SignIn begins a sign-in to a server that people allow to be used.
func (m *Manager) SignIn(ctx context.Context, folder, name, by string) (mcpauth.Begun, error) {
	found, key, err := m.signsIn(folder, name)
	if err != nil {
		return mcpauth.Begun{}, err
	}
	if state, reason := m.permits(found, folder); state != api.MCPIdle {
		return mcpauth.Begun{}, api.Errorf(api.KindConflict, "the server %s is not used, because %s: %s", name, reason, m.advice(state, folder))
	}
	server := mcpauth.Server{Key: key, OAuth: found.oauth}
	secret, err := (definition{Command: server.OAuth.ClientSecret}).expand(m.options.Getenv, m.options.Withheld)
	if err != nil {
		return mcpauth.Begun{}, api.Errorf(api.KindConflict, "oauth.client_secret of the server %s: %v", name, err)
	}
	server.OAuth.ClientSecret = secret.Command
	return m.options.Auth.Begin(ctx, server, by)
}

// SignOut deletes and revokes the tokens of a server, and stops it.
func (m *Manager) SignOut(ctx context.Context, folder, name string) (api.MCPServer, error) {
	found, key, err := m.signsIn(folder, name)
	if err != nil {
		return api.MCPServer{}, err
	}
	err = m.options.Auth.SignOut(ctx, key)
	m.mu.Lock()
	for _, running := range m.running {
		for at, s := range running {
			if s.signIn != nil && *s.signIn == key {
				s.cancel()
				delete(running, at)
			}
		}
	}
	m.mu.Unlock()
	return m.status(found, folder), err
}

func (m *Manager) signsIn(folder, name string) (spec, state.SignInKey, error) {
	found, err := m.find(folder, name)
	if err != nil {
		return found, state.SignInKey{}, err
	}
	key := m.signInKey(found, folder)
	if key == nil {
		return found, state.SignInKey{}, api.Errorf(api.KindConflict, "the server %s does not sign in with OAuth: it is a command, has an Authorization header, or needs a variable that is not set", name)
	}
	return found, *key, nil
}

// FinishSignIn and AwaitSignIn are those of mcpauth.Auth.
func (m *Manager) FinishSignIn(ctx context.Context, id, address string) error {
	if m.options.Auth == nil {
		return api.Errorf(api.KindNotFound, "this sign-in has ended: start it again")
	}
	return m.options.Auth.Finish(ctx, id, address)
}

// AwaitSignIn waits until a sign-in has ended or ctx ends.
func (m *Manager) AwaitSignIn(ctx context.Context, id string) (problem string, ended bool, err error) {
	if m.options.Auth == nil {
		return "", false, api.Errorf(api.KindNotFound, "this sign-in has ended: start it again")
	}
	_, problem, ended, err = m.options.Auth.Await(ctx, id)
	return problem, ended, err
}

// SignedIn starts the servers that wait for a sign-in.
func (m *Manager) SignedIn(key state.SignInKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, running := range m.running {
		for _, s := range running {
			if s.signIn != nil && *s.signIn == key {
				s.signedIn()
			}
		}
	}
}

// contact talks to a server over HTTP, with its tokens if it has some.
func (s *server) contact(ctx context.Context, d definition) error {
	transport := &sdk.StreamableClientTransport{Endpoint: d.URL, HTTPClient: httpClient(d)}
	if s.signIn == nil {
		return s.converse(ctx, transport, nil)
	}
	select {
	case <-s.refused: // of an earlier attempt
	default:
	}
	transport.OAuthHandler = signingIn{s.options.Auth.Handler(*s.signIn), s.refused}
	err := s.converse(ctx, transport, nil)
	select {
	case <-s.refused:
		return mcpauth.ErrSignIn
	default:
		return err
	}
}

// signingIn notes that a server refuses every request until a person signs in.
type signingIn struct {
	*mcpauth.Handler
	refused chan<- struct{} // holds one
}

// Authorize implements auth.OAuthHandler.
func (h signingIn) Authorize(ctx context.Context, request *http.Request, answer *http.Response) error {
	err := h.Handler.Authorize(ctx, request, answer)
	if err == mcpauth.ErrSignIn { //nolint:errorlint // an error that wraps it is about one call
		select {
		case h.refused <- struct{}{}:
		default: // noted already
		}
	}
	return err
}

// needsScopes returns the scopes for which a call was refused.
func needsScopes(err error) (*mcpauth.ScopeError, bool) {
	var scopes *mcpauth.ScopeError
	return scopes, errors.As(err, &scopes)
}
