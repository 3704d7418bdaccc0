package mcpauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// finish uses a response of the authorization server. A response with another state is not one
// of this flow and changes nothing; any other one ends the flow, whatever it says.
func (a *Auth) finish(ctx context.Context, f *flow, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil || !single(values, "state", "code", "iss", "error") {
		return api.Errorf(api.KindBadRequest, "the response cannot be read")
	}
	if subtle.ConstantTimeCompare([]byte(values.Get("state")), []byte(f.state)) != 1 {
		return api.Errorf(api.KindBadRequest, "the response belongs to another sign-in")
	}
	a.mu.Lock()
	if f.taken || !time.Now().Before(f.expires) {
		a.mu.Unlock()
		return gone()
	}
	f.taken = true
	a.mu.Unlock()
	signIn, err := a.exchange(ctx, f, values)
	if err == nil {
		err = a.options.SignIns.Put(signIn)
	}
	if err != nil {
		f.problem = clean(err.Error(), 400)
	}
	close(f.done)
	if err != nil {
		a.options.Logger.Warn("a sign-in to an MCP server failed", "server", f.server.Key.Server, "issuer", host(f.found.server.Issuer))
		return err
	}
	a.options.Logger.Info("signed in to an MCP server", "server", f.server.Key.Server, "issuer", host(signIn.Issuer), "client", f.by)
	a.settled(f.server.Key)
	return nil
}

// single reports whether none of the names occurs twice.
func single(values url.Values, names ...string) bool {
	for _, name := range names {
		if len(values[name]) > 1 {
			return false
		}
	}
	return true
}

// exchange checks a response and exchanges its code for tokens.
func (a *Auth) exchange(ctx context.Context, f *flow, values url.Values) (s state.SignIn, err error) {
	issuer := f.found.server.Issuer
	iss, given := values.Get("iss"), values.Has("iss")
	switch {
	case given && iss != issuer:
		return s, api.Errorf(api.KindNotAllowed, "the response comes from %s, but the sign-in is at %s: nothing was sent", clean(host(iss), 100), host(issuer))
	case !given && f.found.server.AuthorizationResponseIssParameterSupported:
		return s, api.Errorf(api.KindNotAllowed, "the response does not say which authorization server it comes from, although %s always does: nothing was sent", host(issuer))
	case values.Get("error") != "":
		return s, api.Errorf(api.KindNotAllowed, "%s refused: %s", host(issuer), clean(values.Get("error")+": "+values.Get("error_description"), 200))
	case values.Get("code") == "" || len(values.Get("code")) > maxCredentials:
		return s, api.Errorf(api.KindBadRequest, "the response has no code")
	}
	client, idle := a.client(f.server.Key.URL, false)
	defer idle()
	token, err := f.config().Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), values.Get("code"),
		oauth2.VerifierOption(f.verifier), oauth2.SetAuthURLParam("resource", f.found.resource))
	if err == nil {
		err = checkToken(token)
	}
	if err != nil {
		return s, api.Errorf(api.KindUnavailable, "%s issued no token: %s", host(issuer), clean(reason(err).Error(), 200))
	}
	meta := f.found.server
	s = state.SignIn{
		SignInKey: f.server.Key, Resource: f.found.resource, Issuer: issuer, TokenEndpoint: meta.TokenEndpoint, RevocationEndpoint: meta.RevocationEndpoint,
		ClientID: f.client.id, ClientSecret: f.client.secret, InHeader: f.client.style == oauth2.AuthStyleInHeader,
		Scopes: f.scopes, SignedInAt: time.Now().UnixMilli(), SignedInBy: f.by,
	}
	return withToken(s, token), nil
}

// checkToken checks the tokens of an authorization server.
func checkToken(t *oauth2.Token) error {
	switch {
	case !strings.EqualFold(t.Type(), "Bearer"):
		return errors.New("its tokens are not bearer tokens")
	case len(t.AccessToken) > maxCredentials || len(t.RefreshToken) > maxCredentials:
		return errors.New("its tokens are too long")
	case strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("its token has characters that no token has")
	}
	return nil
}

// withToken is a sign-in with other tokens. Without a new refresh token the old one stays.
func withToken(s state.SignIn, t *oauth2.Token) state.SignIn {
	s.AccessToken, s.ExpiresAt = t.AccessToken, 0
	if !t.Expiry.IsZero() {
		s.ExpiresAt = t.Expiry.UnixMilli()
	}
	if t.RefreshToken != "" {
		s.RefreshToken = t.RefreshToken
	}
	if granted, ok := t.Extra("scope").(string); ok && granted != "" {
		s.Scopes = union(nil, strings.Fields(granted))
	}
	return s
}
