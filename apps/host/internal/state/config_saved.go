package state

import (
	"cmp"
	"maps"
	"slices"
)

// Where a provider, a model or the default comes from. "" is the environment, or a choice of the
// host.
const (
	SourceConfig = "config.toml"
	SourceSaved  = "models.json"
)

// fixedModels are the providers and models that no request changes: those of config.toml, or
// those that the environment selects.
type fixedModels struct {
	providers []Provider
	models    map[string]Model
	byDefault string
	named     bool // config.toml has default_model
}

// WithSaved returns the configuration with these saved providers and models in place of its
// earlier ones. A saved name that config.toml has too, and a model whose provider does not
// exist, are left out.
func (c Config) WithSaved(saved SavedModels) Config {
	c.saved = saved
	c.providers, c.models = slices.Clone(c.fixed.providers), map[string]Model{}
	for name, p := range saved.Providers {
		if _, taken := c.Provider(name); !taken {
			c.providers = append(c.providers, Provider{
				Name: name, Type: p.Type, BaseURL: p.BaseURL, KeyEnv: p.KeyName, Source: SourceSaved, PublicOnly: p.PublicOnly,
			})
		}
	}
	slices.SortFunc(c.providers, func(a, b Provider) int { return cmp.Compare(a.Name, b.Name) })
	for name, m := range saved.Models {
		if provider, ok := c.Provider(m.Provider); ok {
			c.models[name] = m.file().model(name, provider, SourceSaved)
		}
	}
	names := slices.Sorted(maps.Keys(c.models))
	for name, m := range c.fixed.models {
		switch _, taken := c.models[name]; {
		case taken && c.builtin: // the environment selects it only for want of another
		case m.Type == ProviderDemo && c.builtin && len(names) > 0:
		default:
			c.models[name] = m
		}
	}
	return c.withDefault(names)
}

// withDefault chooses the default. saved are the names of the usable saved models.
func (c Config) withDefault(saved []string) Config {
	_, fixed := c.models[c.fixed.byDefault]
	_, chosen := c.models[c.saved.Default]
	switch {
	case c.fixed.named:
		c.defaultModel, c.defaultSource = c.fixed.byDefault, SourceConfig
	case chosen:
		c.defaultModel, c.defaultSource = c.saved.Default, SourceSaved
	case fixed || len(saved) == 0:
		c.defaultModel, c.defaultSource = c.fixed.byDefault, ""
	default:
		c.defaultModel, c.defaultSource = saved[0], ""
	}
	return c
}

// Saved returns what requests saved, also what is left out.
func (c Config) Saved() SavedModels { return c.saved }

// Provider returns the provider with a name.
func (c Config) Provider(name string) (Provider, bool) {
	i := slices.IndexFunc(c.providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return c.providers[i], true
}

// FixedProvider reports whether a name is that of a provider that no request changes.
func (c Config) FixedProvider(name string) bool {
	return slices.ContainsFunc(c.fixed.providers, func(p Provider) bool { return p.Name == name })
}

// FixedModel reports whether a name is that of a model of config.toml.
func (c Config) FixedModel(name string) bool {
	_, ok := c.fixed.models[name]
	return ok && !c.builtin
}

// BuiltinModel reports whether a name is that of a model that the environment may select.
func (c Config) BuiltinModel(name string) bool {
	return c.builtin && (name == ProviderDemo || slices.ContainsFunc(builtinProviders(c.getenv), func(p Provider) bool { return p.Name == name }))
}

// DefaultSource says where the default was chosen: SourceConfig, SourceSaved, or "" for the
// choice of the host.
func (c Config) DefaultSource() string { return c.defaultSource }
