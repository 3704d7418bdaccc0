package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/scorel/scorel/packages/protocol/api"
)

const (
	maxScopes      = 64
	maxIssuers     = 8
	maxCredentials = 16 << 10 // bytes of a token or client id
)

// discovered is what a sign-in needs to know about a server.
type discovered struct {
	resource string
	server   *oauthex.AuthServerMeta
	scopes   []string
}

// discover finds the authorization server of a server.
func (a *Auth) discover(ctx context.Context, s Server, challenge Challenge) (d discovered, err error) {
	client, idle := a.client(s.Key.URL, true)
	defer idle()
	resource, err := a.resource(ctx, client, s.Key.URL, challenge.Metadata)
	if err != nil {
		return d, err
	}
	issuer, err := choose(resource.AuthorizationServers, s.OAuth.Issuer)
	if err != nil {
		return d, err
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err == nil {
		err = checkServer(meta, issuer)
	}
	if err != nil {
		return d, api.Errorf(api.KindUnavailable, "the metadata of the authorization server %s cannot be used: %s", host(issuer), clean(reason(err).Error(), 300))
	}
	d = discovered{resource: resource.Resource, server: meta, scopes: challenge.Scopes}
	if len(d.scopes) == 0 {
		d.scopes = resource.ScopesSupported
	}
	if len(s.OAuth.Scopes) > 0 {
		d.scopes = union(s.OAuth.Scopes, challenge.Scopes)
	}
	if slices.Contains(meta.ScopesSupported, "offline_access") {
		d.scopes = union(d.scopes, []string{"offline_access"})
	}
	return d, nil
}

// resource reads the metadata of a server: at the address that it named, else at the well-known
// addresses. The metadata must be about this server.
func (a *Auth) resource(ctx context.Context, client *http.Client, server, named string) (*oauthex.ProtectedResourceMetadata, error) {
	type place struct{ metadata, resource string }
	u, err := url.Parse(server)
	if err != nil {
		return nil, api.Errorf(api.KindBadRequest, "the address of the server is not a URL")
	}
	root := u.Scheme + "://" + u.Host
	const known = "/.well-known/oauth-protected-resource"
	var places []place
	if named != "" {
		places = append(places, place{named, server})
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		places = append(places, place{root + known + "/" + path, server})
	}
	places = append(places, place{root + known, root}, place{root + known, root + "/"})
	var failed error
	for _, p := range places {
		if err := checkURL(p.metadata); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, p.metadata, p.resource, client)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failed = cmpErr(failed, fmt.Errorf("%s: %w", host(p.metadata), reason(err)))
			continue
		case len(meta.AuthorizationServers) == 0:
			return nil, api.Errorf(api.KindUnavailable, "the server names no authorization server: set its headers instead")
		case len(meta.AuthorizationServers) > maxIssuers || len(meta.ScopesSupported) > maxScopes:
			return nil, api.Errorf(api.KindUnavailable, "the server names more authorization servers or scopes than the limit")
		}
		return meta, nil
	}
	return nil, api.Errorf(api.KindUnavailable, "the server has no usable metadata for signing in (RFC 9728): %s", clean(failed.Error(), 300))
}

// cmpErr keeps the first error.
func cmpErr(first, next error) error {
	if first != nil {
		return first
	}
	return next
}

// choose returns the issuer to use: the first that the server names, or the configured one.
func choose(issuers []string, configured string) (string, error) {
	issuer := issuers[0]
	if configured != "" {
		if !slices.Contains(issuers, configured) {
			return "", api.Errorf(api.KindConflict, "the server names the authorization server %s, but config.toml says %s: nothing was sent to it", host(issuer), host(configured))
		}
		issuer = configured
	}
	if err := checkURL(issuer); err != nil {
		return "", api.Errorf(api.KindUnavailable, "the authorization server cannot be used: %v", err)
	}
	return issuer, nil
}

// checkServer checks what the SDK leaves open: the exact issuer, PKCE with S256, and that each
// endpoint is there and encrypted.
func checkServer(meta *oauthex.AuthServerMeta, issuer string) error {
	switch {
	case meta == nil:
		return errors.New("it has none (RFC 8414)")
	case meta.Issuer != issuer:
		return fmt.Errorf("it is about the issuer %s", clean(meta.Issuer, 100))
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return errors.New("it does not support PKCE with S256")
	}
	for name, endpoint := range map[string]string{"authorization_endpoint": meta.AuthorizationEndpoint, "token_endpoint": meta.TokenEndpoint} {
		if err := checkURL(endpoint); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, endpoint := range map[string]string{"registration_endpoint": meta.RegistrationEndpoint, "revocation_endpoint": meta.RevocationEndpoint} {
		if endpoint == "" {
			continue
		}
		if err := checkURL(endpoint); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// registered is the client that an authorization server knows.
type registered struct {
	id, secret string
	style      oauth2.AuthStyle
}

// register returns the client to sign in with: the configured one, else the document that
// describes this client, else one that is registered now.
func (a *Auth) register(ctx context.Context, s Server, meta *oauthex.AuthServerMeta, redirect string) (registered, error) {
	switch {
	case s.OAuth.ClientID != "":
		r := registered{s.OAuth.ClientID, s.OAuth.ClientSecret, oauth2.AuthStyleInParams}
		methods := meta.TokenEndpointAuthMethodsSupported
		if r.secret != "" && !slices.Contains(methods, "client_secret_post") && (len(methods) == 0 || slices.Contains(methods, "client_secret_basic")) {
			r.style = oauth2.AuthStyleInHeader
		}
		return r, nil
	case a.options.ClientURL != "" && meta.ClientIDMetadataDocumentSupported:
		return registered{id: a.options.ClientURL, style: oauth2.AuthStyleInParams}, nil
	case meta.RegistrationEndpoint == "":
		return registered{}, api.Errorf(api.KindConflict, "%s does not register clients by itself: register scorel there and set oauth.client_id of the server %s in config.toml", host(meta.Issuer), s.Key.Server)
	}
	client, idle := a.client(s.Key.URL, false)
	defer idle()
	answer, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"},
		ResponseTypes: []string{"code"}, ClientName: "scorel", ApplicationType: "native",
	}, client)
	if err != nil {
		return registered{}, api.Errorf(api.KindUnavailable, "%s does not register this client: %s. Register scorel there and set oauth.client_id in config.toml", host(meta.Issuer), clean(reason(err).Error(), 200))
	}
	if len(answer.ClientID) > maxCredentials || len(answer.ClientSecret) > maxCredentials {
		return registered{}, api.Errorf(api.KindUnavailable, "%s registered a client with an id that is too long", host(meta.Issuer))
	}
	r := registered{answer.ClientID, answer.ClientSecret, oauth2.AuthStyleInParams}
	if r.secret != "" && answer.TokenEndpointAuthMethod != "client_secret_post" {
		r.style = oauth2.AuthStyleInHeader
	}
	return r, nil
}

// union returns the scopes of both lists, without duplicates and at most maxScopes.
func union(a, b []string) []string {
	var all []string
	for _, scope := range append(slices.Clone(a), b...) {
		if !slices.Contains(all, scope) && len(all) < maxScopes && len(scope) <= 256 {
			all = append(all, scope)
		}
	}
	return all
}
