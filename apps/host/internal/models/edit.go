package models

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Editor changes the saved providers and models of a home. All fields are required and do not
// change.
type Editor struct {
	Logger *slog.Logger
	Models *Models
	Path   string        // of models.json
	Keys   *secrets.Keys // of the providers
	Here   bool          // it works for a person on this machine
}

// OpenEditor returns an editor for a person on the machine, for a home whose host does not run.
func OpenEditor(home string, getenv func(string) string) (*Editor, error) {
	log := slog.New(slog.DiscardHandler)
	keys, err := secrets.LoadKeys(home, getenv, log)
	if err != nil {
		return nil, err
	}
	paths := state.Paths{Home: home}
	config, err := state.LoadConfig(paths.Config(), keys.Getenv)
	if err != nil {
		return nil, err
	}
	m, err := New(config)
	if err != nil {
		return nil, err
	}
	return &Editor{Logger: log, Models: m, Path: paths.Models(), Keys: keys, Here: true}, nil
}

// changeTimeout bounds the wait for another process that changes models.json.
const changeTimeout = 10 * time.Second

// change changes models.json and uses it. edit gets the configuration with what the file has.
func (e *Editor) change(ctx context.Context, edit func(config state.Config, saved *state.SavedModels) error) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	err := e.Models.change(ctx, e.Path, edit)
	var refused *api.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.Is(err, state.ErrLocked):
		return api.Errorf(api.KindUnavailable, "%v", err)
	}
	e.Logger.Error("changing the saved models", "error", err)
	return api.Errorf(api.KindUnavailable, "the machine could not save the change: %v", err)
}

// Providers lists the providers, and what is saved.
func (e *Editor) Providers(context.Context) (api.ListProvidersResponse, error) {
	response := e.list(true)
	response.SavedModels = savedModels(e.Models.now().config)
	return response, nil
}

// SaveProvider adds or changes a provider.
func (e *Editor) SaveProvider(ctx context.Context, r api.SaveProviderRequest) (api.Provider, error) {
	dropped := ""
	err := e.change(ctx, func(config state.Config, saved *state.SavedModels) (err error) {
		before, known := saved.Providers[r.Name]
		if err := checkVersion("provider", r.Name, before.Revision, r.Version, known); err != nil {
			return err
		}
		if err := state.CheckModelName(r.Name); err != nil {
			return api.Errorf(api.KindBadRequest, "%v", err)
		}
		if config.FixedProvider(r.Name) {
			return setElsewhere("provider", r.Name, config)
		}
		after := before
		after.Type, after.BaseURL, after.Revision = r.Type, r.BaseURL, rand.Text()
		moved := !known || !sameAddress(before, after)
		if moved || e.Here { // saving on the machine also lifts publicOnly
			if after.PublicOnly, err = checkAddress(after.BaseURL, e.Here); err != nil {
				return err
			}
		}
		if moved {
			dropped, after.KeyName = before.KeyName, state.ProviderSecret+rand.Text()
		}
		saved.Providers[r.Name] = after
		return nil
	})
	if err != nil {
		return api.Provider{}, err
	}
	e.dropKey(ctx, r.Name, dropped)
	p, ok := e.Models.now().config.Provider(r.Name)
	if !ok {
		return api.Provider{}, api.Errorf(api.KindConflict, "the provider %s was removed in the meantime", r.Name)
	}
	return e.listed(p, true), nil
}

// sameAddress reports whether the key of a provider may stay: it goes where it went before.
func sameAddress(a, b state.SavedProvider) bool {
	return a.BaseURL == b.BaseURL && (a.BaseURL != "" || a.Type == b.Type)
}

// dropKey removes the key of an address that is no longer used. Nothing can be sent there any
// more. If the key store is locked, the key stays until `scorel model key remove` gets its
// variable. The removal ignores the end of ctx, because models.json has changed already.
func (e *Editor) dropKey(ctx context.Context, provider, variable string) {
	if variable == "" {
		return
	}
	if store, _ := e.Keys.Saved(variable); store == "" {
		return
	}
	if _, err := e.Keys.Remove(context.WithoutCancel(ctx), variable); err != nil {
		e.Logger.Warn("removing the key of a provider whose address changed or that was removed", "provider", provider, "variable", variable, "error", err)
	}
}

// RemoveProvider removes a provider that no saved model uses, and its key.
func (e *Editor) RemoveProvider(ctx context.Context, r api.RemoveProviderRequest) error {
	dropped := ""
	err := e.change(ctx, func(config state.Config, saved *state.SavedModels) error {
		before, known := saved.Providers[r.Name]
		switch {
		case !known && config.FixedProvider(r.Name):
			return setElsewhere("provider", r.Name, config)
		case !known:
			return unknown("provider", r.Name)
		}
		if err := checkVersion("provider", r.Name, before.Revision, r.Version, true); err != nil {
			return err
		}
		for name, m := range saved.Models {
			if m.Provider == r.Name && !config.FixedProvider(r.Name) {
				return api.Errorf(api.KindConflict, "the model %s uses the provider %s: remove the models of the provider first", name, r.Name)
			}
		}
		delete(saved.Providers, r.Name)
		dropped = before.KeyName
		return nil
	})
	if err == nil {
		e.dropKey(ctx, r.Name, dropped)
	}
	return err
}

// SaveModel adds or changes a model. The first one is the default in place of the demo.
func (e *Editor) SaveModel(ctx context.Context, r api.SaveModelRequest) (api.SavedModel, error) {
	var after state.SavedModel
	err := e.change(ctx, func(config state.Config, saved *state.SavedModels) error {
		before, known := saved.Models[r.Name]
		if err := checkVersion("model", r.Name, before.Revision, r.Version, known); err != nil {
			return err
		}
		if err := state.CheckModelName(r.Name); err != nil {
			return api.Errorf(api.KindBadRequest, "%v", err)
		}
		if config.FixedModel(r.Name) {
			return setElsewhere("model", r.Name, config)
		}
		if !known && config.BuiltinModel(r.Name) {
			return api.Errorf(api.KindConflict, "%s is the name of a built-in model: choose another name", r.Name)
		}
		if _, ok := config.Provider(r.Model.Provider); !ok {
			return api.Errorf(api.KindBadRequest, "there is no provider %.64q: add it first, or list the providers to see their names", r.Model.Provider)
		}
		after = before
		apply(&after, r.Model)
		after.Revision = rand.Text()
		saved.Models[r.Name] = after
		if m, _ := config.Model(""); saved.Default == "" && m.Type == state.ProviderDemo && config.DefaultSource() == "" {
			saved.Default = r.Name
		}
		return nil
	})
	return describe(r.Name, after), err
}

// RemoveModel removes a model. If it was chosen as the default, the host chooses one.
func (e *Editor) RemoveModel(ctx context.Context, r api.RemoveModelRequest) error {
	return e.change(ctx, func(config state.Config, saved *state.SavedModels) error {
		before, known := saved.Models[r.Name]
		switch {
		case !known && config.FixedModel(r.Name):
			return setElsewhere("model", r.Name, config)
		case !known:
			return unknown("model", r.Name)
		}
		if err := checkVersion("model", r.Name, before.Revision, r.Version, true); err != nil {
			return err
		}
		delete(saved.Models, r.Name)
		if saved.Default == r.Name {
			saved.Default = ""
		}
		return nil
	})
}

// SetDefault chooses the model for new sessions; "" leaves it to the host.
func (e *Editor) SetDefault(ctx context.Context, r api.SetDefaultModelRequest) (api.DefaultModelResponse, error) {
	err := e.change(ctx, func(config state.Config, saved *state.SavedModels) error {
		if config.DefaultSource() == state.SourceConfig {
			return api.Errorf(api.KindConflict, "default_model in config.toml sets the default, %s: change it there and restart the host", config.Default())
		}
		if _, ok := config.Model(r.Name); !ok {
			return unknown("model", r.Name)
		}
		saved.Default = r.Name
		return nil
	})
	config := e.Models.now().config
	return api.DefaultModelResponse{Name: config.Default(), Source: config.DefaultSource()}, err
}

func checkVersion(what, name, have, given string, known bool) error {
	switch {
	case known && given == "":
		return api.Errorf(api.KindConflict, "there is a %s %s already: change it, or choose another name", what, name)
	case !known && given != "":
		return unknown(what, name)
	case known && have != given:
		return api.Errorf(api.KindConflict, "the %s %s was changed in the meantime: read it again and repeat the change", what, name)
	}
	return nil
}

func unknown(what, name string) error {
	return api.Errorf(api.KindNotFound, "there is no %s %.64q on this host: list the %ss to see their names", what, name, what)
}

// setElsewhere is the error for a name that no request changes.
func setElsewhere(what, name string, config state.Config) error {
	if p, ok := config.Provider(name); what == "provider" && ok && p.Source == "" {
		return api.Errorf(api.KindConflict, "the provider %s is built in: save its key, or choose another name", name)
	}
	return api.Errorf(api.KindConflict, "the %s %s is set in config.toml: change it there and restart the host, or choose another name", what, name)
}

func apply(m *state.SavedModel, d api.ModelDraft) {
	m.Provider, m.ID, m.ContextWindow, m.MaxTokens, m.Thinking, m.Images = d.Provider, d.ID, d.ContextWindow, d.MaxTokens, d.Thinking, d.Images
	m.PriceInput, m.PriceOutput, m.PriceCacheRead, m.PriceCacheWrite = d.PriceInput, d.PriceOutput, d.PriceCacheRead, d.PriceCacheWrite
}

func describe(name string, m state.SavedModel) api.SavedModel {
	return api.SavedModel{Name: name, Version: m.Revision, Model: api.ModelDraft{
		Provider: m.Provider, ID: m.ID, ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Thinking: m.Thinking, Images: m.Images,
		PriceInput: m.PriceInput, PriceOutput: m.PriceOutput, PriceCacheRead: m.PriceCacheRead, PriceCacheWrite: m.PriceCacheWrite,
	}}
}

// savedModels describes what is in models.json, also what is not used.
func savedModels(config state.Config) []api.SavedModel {
	list := []api.SavedModel{}
	for _, name := range config.Saved().ModelNames() {
		d := describe(name, config.Saved().Models[name])
		if config.FixedModel(name) {
			d.Problem = "config.toml has a model with this name, which is used instead."
		} else if _, used := config.Model(name); !used {
			d.Problem = noProvider(d.Model.Provider)
		}
		list = append(list, d)
	}
	return list
}

// noProvider explains why a saved model is not used.
func noProvider(name string) string {
	return fmt.Sprintf("Its provider %s does not exist: add it, or remove the model.", name)
}
