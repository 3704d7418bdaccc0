package models

import (
	"cmp"
	"net/url"

	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// list describes the providers. editable adds the versions and base URLs that changes need.
func (e *Editor) list(editable bool) api.ListProvidersResponse {
	config := e.Models.now().config
	response := api.ListProvidersResponse{Providers: []api.Provider{}, DefaultModel: config.Default(), DefaultSource: config.DefaultSource()}
	for _, known := range config.Providers() {
		response.Providers = append(response.Providers, e.listed(known, editable))
	}
	return response
}

// listed describes a provider. The path of a base URL may hold a secret, so only its host is
// shown to those who cannot change it.
func (e *Editor) listed(known state.Provider, editable bool) api.Provider {
	config := e.Models.now().config
	p := api.Provider{Name: known.Name, Type: known.Type, KeyName: known.KeyEnv, Models: []string{}, Source: known.Source}
	if known.Source == state.SourceSaved && editable {
		p.BaseURL, p.Version = known.BaseURL, config.Saved().Providers[known.Name].Revision
	}
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
	switch store, usable := e.Keys.Saved(known.KeyEnv); {
	case e.Keys.InEnvironment(known.KeyEnv):
		p.KeySource = api.KeyFromEnvironment
	case store != "" && usable:
		p.KeySource = store
	case store != "":
		p.Problem = "The saved key cannot be read: unlock the system's key store and restart the host, or save the key again."
	}
	return p
}
