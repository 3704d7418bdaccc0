package cli

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// savedModels are the providers and models of a host, or of a home on which none runs.
type savedModels interface {
	Providers(ctx context.Context) (api.ListProvidersResponse, error)
	SaveProvider(ctx context.Context, r api.SaveProviderRequest) (api.Provider, error)
	RemoveProvider(ctx context.Context, r api.RemoveProviderRequest) error
	SaveModel(ctx context.Context, r api.SaveModelRequest) (api.SavedModel, error)
	RemoveModel(ctx context.Context, r api.RemoveModelRequest) error
	SetDefault(ctx context.Context, r api.SetDefaultModelRequest) (api.DefaultModelResponse, error)
}

// useModels runs changes of models on the target, or on the files of this machine's home if no
// host runs on it.
func useModels(ctx context.Context, env *environment, to *target, run func(savedModels) error) error {
	if !to.local() {
		return to.use(ctx, func(c *client.Client) error { return run(hostModels{c}) })
	}
	home, err := env.home()
	if err != nil {
		return err
	}
	switch _, err := host.ReadState(home); {
	case errors.Is(err, host.ErrNoHost):
		editor, err := host.EditModels(home, env.getenv)
		if err != nil {
			return err
		}
		return run(editor)
	case err != nil:
		return err
	}
	return useLocal(ctx, home, func(c *client.Client) error { return run(hostModels{c}) })
}

// hostModels are the models of a running host.
type hostModels struct{ c *client.Client }

func (h hostModels) Providers(ctx context.Context) (api.ListProvidersResponse, error) {
	return client.Call(ctx, h.c, api.ListProviders, api.Empty{})
}

func (h hostModels) SaveProvider(ctx context.Context, r api.SaveProviderRequest) (api.Provider, error) {
	response, err := client.Call(ctx, h.c, api.SaveProvider, r)
	return response.Provider, err
}

func (h hostModels) RemoveProvider(ctx context.Context, r api.RemoveProviderRequest) error {
	_, err := client.Call(ctx, h.c, api.RemoveProvider, r)
	return err
}

func (h hostModels) SaveModel(ctx context.Context, r api.SaveModelRequest) (api.SavedModel, error) {
	response, err := client.Call(ctx, h.c, api.SaveModel, r)
	return response.Model, err
}

func (h hostModels) RemoveModel(ctx context.Context, r api.RemoveModelRequest) error {
	_, err := client.Call(ctx, h.c, api.RemoveModel, r)
	return err
}

func (h hostModels) SetDefault(ctx context.Context, r api.SetDefaultModelRequest) (api.DefaultModelResponse, error) {
	return client.Call(ctx, h.c, api.SetDefaultModel, r)
}
