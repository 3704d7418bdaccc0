package models

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/keyfile/keystore"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Requests answers the requests about providers, their keys and their models. All fields are
// required and do not change.
type Requests struct {
	Logger *slog.Logger
	Models *Models
	Keys   *secrets.Keys // those that Models gets its keys from
	Hub    *dispatch.Hub
	Path   string // of models.json
}

// Endpoints are the requests about providers and models.
func (r *Requests) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListProviders, r.listProviders),
		dispatch.Serve(api.SetProviderKey, r.setProviderKey),
		dispatch.Serve(api.RemoveProviderKey, r.removeProviderKey),
		dispatch.Serve(api.SaveProvider, r.saveProvider),
		dispatch.Serve(api.RemoveProvider, r.removeProvider),
		dispatch.Serve(api.SaveModel, r.saveModel),
		dispatch.Serve(api.RemoveModel, r.removeModel),
		dispatch.Serve(api.SetDefaultModel, r.setDefaultModel),
		dispatch.Serve(api.TestModel, r.testModel),
	}
}

func (r *Requests) listProviders(ctx context.Context, c *dispatch.Conn, _ api.Empty) (api.ListProvidersResponse, error) {
	if !mayEdit(c) {
		return r.editor(c).list(false), nil
	}
	return r.editor(c).Providers(ctx)
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
	return r.changed(c, known)
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
	return r.changed(c, known)
}

// changed lets the models use the keys that there are now.
func (r *Requests) changed(c *dispatch.Conn, known state.Provider) (api.ProviderResponse, error) {
	if err := r.Models.Rekey(); err != nil {
		return api.ProviderResponse{}, err
	}
	r.Hub.Notify(api.ModelsChanged{})
	return api.ProviderResponse{Provider: r.editor(c).listed(known, mayEdit(c))}, nil
}
