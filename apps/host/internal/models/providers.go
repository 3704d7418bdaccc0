package models

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/keyfile/keystore"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Requests answers the requests about providers and their keys. All fields are required and
// do not change.
type Requests struct {
	Logger *slog.Logger
	Models *Models
	Keys   *secrets.Keys // those that Models gets its keys from
	Hub    *dispatch.Hub
}

// Endpoints are the requests about providers.
func (r *Requests) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListProviders, r.listProviders),
		dispatch.Serve(api.SetProviderKey, r.setProviderKey),
		dispatch.Serve(api.RemoveProviderKey, r.removeProviderKey),
	}
}

func (r *Requests) listProviders(context.Context, *dispatch.Conn, api.Empty) (api.ListProvidersResponse, error) {
	config := r.Models.now().config
	providers := []api.Provider{}
	for _, known := range config.Providers() {
		providers = append(providers, r.listed(config, known))
	}
	return api.ListProvidersResponse{Providers: providers}, nil
}

// listed describes a provider. The path of a base URL may hold a secret, so only its host
// is shown.
func (r *Requests) listed(config state.Config, known state.Provider) api.Provider {
	p := api.Provider{Name: known.Name, Type: known.Type, KeyName: known.KeyEnv, Models: []string{}}
	if u, err := url.Parse(cmp.Or(known.BaseURL, model.DefaultURL(known.Type))); err == nil {
		p.Address = u.Host
	}
	for _, m := range config.Models() {
		if m.Provider == known.Name {
			p.Models = append(p.Models, m.Name)
		}
	}
	if known.KeyEnv == "" {
		return p
	}
	switch store, usable := r.Keys.Saved(known.KeyEnv); {
	case r.Keys.InEnvironment(known.KeyEnv):
		p.KeySource = api.KeyFromEnvironment
	case store != "" && usable:
		p.KeySource = store
	case store != "":
		p.Problem = "The saved key cannot be read: unlock the system's key store and restart the host, or save the key again."
	}
	return p
}

// find returns a provider that has a key. Only these variables can be set: the host reads
// others too, such as the address of a provider, and would send keys wherever they lead.
func (r *Requests) find(name string) (state.Provider, error) {
	providers := r.Models.now().config.Providers()
	i := slices.IndexFunc(providers, func(p state.Provider) bool { return p.Name == name })
	switch {
	case i < 0:
		return state.Provider{}, api.Errorf(api.KindNotFound, "no provider %.64q on this host: list the providers to see their names", name)
	case providers[i].KeyEnv == "":
		return state.Provider{}, api.Errorf(api.KindConflict, "the provider %.64q has no api_key_env in config.toml: add it there and restart the host", name)
	}
	return providers[i], nil
}

// setProviderKey requires what allowing an MCP server does: whoever owns the account of a
// key can see what is sent to the provider.
func (r *Requests) setProviderKey(ctx context.Context, c *dispatch.Conn, request api.SetProviderKeyRequest) (response api.ProviderResponse, err error) {
	if !c.May(api.GrantApprove) {
		return response, c.Lacks(api.GrantApprove, "saving a key also")
	}
	known, err := r.find(request.Provider)
	if err != nil {
		return response, err
	}
	key := strings.TrimSpace(request.Key)
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return response, api.Errorf(api.KindBadRequest, "this is not a key: it must be one line of letters, digits and signs without spaces")
	}
	if request.Store != "" && request.Store != api.KeyFromSystem && request.Store != api.KeyFromFile {
		return response, api.Errorf(api.KindBadRequest, "unknown store %.40q: use system or file, or leave it out", request.Store)
	}
	if r.Keys.InEnvironment(known.KeyEnv) {
		return response, api.Errorf(api.KindConflict, "the host's environment sets %s, which overrides a saved key: unset it and restart the host", known.KeyEnv)
	}
	store, err := r.Keys.Save(ctx, known.KeyEnv, key, request.Store)
	if errors.Is(err, keystore.ErrUnavailable) {
		return response, api.Errorf(api.KindUnavailable, "the key was not saved: %v", err)
	}
	if err != nil {
		r.Logger.Error("saving the key of a provider", "provider", known.Name, "variable", known.KeyEnv, "error", err)
		return response, api.Errorf(api.KindUnavailable, "the machine could not save the key: see the host's log, or run `scorel model key set %s` there", known.KeyEnv)
	}
	r.Logger.Info("key of a provider saved", "provider", known.Name, "variable", known.KeyEnv, "store", store, "by", c.ClientID())
	return r.changed(known)
}

func (r *Requests) removeProviderKey(ctx context.Context, c *dispatch.Conn, request api.RemoveProviderKeyRequest) (response api.ProviderResponse, err error) {
	known, err := r.find(request.Provider)
	if err != nil {
		return response, err
	}
	removed, err := r.Keys.Remove(ctx, known.KeyEnv)
	switch {
	case err != nil:
		r.Logger.Error("removing the key of a provider", "provider", known.Name, "variable", known.KeyEnv, "error", err)
		return response, api.Errorf(api.KindUnavailable, "the machine could not remove the key: see the host's log, or run `scorel model key remove %s` there", known.KeyEnv)
	case !removed:
		return response, api.Errorf(api.KindNotFound, "no key for %s is saved on this host", known.KeyEnv)
	}
	r.Logger.Info("key of a provider removed", "provider", known.Name, "variable", known.KeyEnv, "by", c.ClientID())
	return r.changed(known)
}

// changed lets the models use the keys that there are now.
func (r *Requests) changed(known state.Provider) (api.ProviderResponse, error) {
	if err := r.Models.Rekey(); err != nil {
		return api.ProviderResponse{}, err
	}
	r.Hub.Notify(api.ModelsChanged{})
	return api.ProviderResponse{Provider: r.listed(r.Models.now().config, known)}, nil
}
