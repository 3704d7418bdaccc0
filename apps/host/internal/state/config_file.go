package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// maxConfig bounds the size of config.toml, in bytes.
const maxConfig = 1 << 20

// Bounds of max_steps: the last step has no tools.
const (
	minSteps = 2
	maxSteps = 10_000
)

// configFile is config.toml as decoded.
type configFile struct {
	DefaultModel   string                  `toml:"default_model"`
	AuxiliaryModel string                  `toml:"auxiliary_model"`
	Compaction     compactionFile          `toml:"compaction"`
	RelayURL       string                  `toml:"relay_url"`
	RelayURLs      []string                `toml:"relay_urls"`
	RelayInvite    string                  `toml:"relay_invite"`
	Label          string                  `toml:"label"`
	MaxSteps       *int                    `toml:"max_steps"`
	KeepAwake      *bool                   `toml:"keep_awake"`
	MetricsListen  string                  `toml:"metrics_listen"`
	TraceURL       string                  `toml:"trace_url"`
	Providers      map[string]providerFile `toml:"providers"`
	Models         map[string]modelFile    `toml:"models"`
	Permissions    permissionsFile         `toml:"permissions"`
	Sandbox        sandboxFile             `toml:"sandbox"`
	Questions      questionsFile           `toml:"questions"`
	Environment    environmentFile         `toml:"environment"`
	Subagents      subagentFile            `toml:"crew"`
	Worktrees      worktreesFile           `toml:"worktrees"`

	SessionProvider  string                      `toml:"session_provider"`
	SessionProviders map[string]sessionStoreFile `toml:"session_providers"`
	Projects         map[string]projectFile      `toml:"projects"`
	MCP              mcpFile                     `toml:"mcp"`
	Hooks            []Hook                      `toml:"hooks"`
	Budgets          Budgets                     `toml:"budgets"`
	Backends         map[string]Backend          `toml:"backends"`
}

type providerFile struct {
	Type      string `toml:"type"`
	BaseURL   string `toml:"base_url"`
	APIKeyEnv string `toml:"api_key_env"`
}

type modelFile struct {
	Provider      string `toml:"provider"`
	ID            string `toml:"id"`
	ContextWindow int    `toml:"context_window"`
	MaxTokens     int    `toml:"max_tokens"`
	Thinking      string `toml:"thinking"`
	Images        *bool  `toml:"images"`

	PriceInput      float64 `toml:"price_input"`
	PriceOutput     float64 `toml:"price_output"`
	PriceCacheRead  float64 `toml:"price_cache_read"`
	PriceCacheWrite float64 `toml:"price_cache_write"`
}

// LoadConfig reads config.toml strictly, and the models.json beside it. Without a config.toml,
// the environment decides: ANTHROPIC_API_KEY, else OPENAI_API_KEY (with OPENAI_BASE_URL), else
// GEMINI_API_KEY, else the models of models.json or the demo model; the same applies if the
// file has no models. The error is a *ConfigError: one sentence with the file and, if known,
// the line.
func LoadConfig(path string, getenv func(string) string) (Config, error) {
	config, err := loadConfig(path, getenv)
	if err != nil {
		return Config{}, Misconfigured(err)
	}
	saved, err := LoadSavedModels(Paths{Home: filepath.Dir(path)}.Models())
	if err != nil {
		return Config{}, Misconfigured(err)
	}
	config.fixed.providers, config.fixed.models, config.fixed.byDefault = config.providers, config.models, config.defaultModel
	return config.WithSaved(saved), nil
}

func loadConfig(path string, getenv func(string) string) (Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return builtinConfig(getenv)
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	if len(data) > maxConfig {
		return Config{}, fmt.Errorf("%s is larger than the limit of 1 MiB", path)
	}
	var file configFile
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return Config{}, fmt.Errorf("%s%w", path, explainTOML(err))
	}
	config, err := file.config(getenv)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	config.lines = readLines(data)
	return config, nil
}

// config validates the file as a whole.
func (f configFile) config(getenv func(string) string) (Config, error) {
	relays, err := f.relays()
	if err != nil {
		return Config{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Providers)) {
		if err := f.Providers[name].check(); err != nil {
			return Config{}, fmt.Errorf("providers.%s: %w", name, err)
		}
	}
	if err := errors.Join(f.MCP.check(), checkHooks(f.Hooks), f.Budgets.check(), checkBackends(f.Backends)); err != nil {
		return Config{}, err
	}
	config := Config{models: map[string]Model{}}
	if len(f.Models) == 0 {
		if f.DefaultModel != "" {
			return Config{}, fmt.Errorf("default_model %q: the file has no [models.%s]", f.DefaultModel, f.DefaultModel)
		}
		builtin, err := builtinConfig(getenv)
		if err != nil {
			return Config{}, err
		}
		config = builtin
	}
	config.RelayURLs, config.Invite, config.Label, config.getenv = relays, f.RelayInvite, f.Label, getenv
	config.MCP, config.Hooks, config.Budgets, config.Backends = f.MCP.Servers, f.Hooks, f.Budgets, f.Backends
	config.MCPClient = f.MCP.ClientMetadataURL
	config.providers = f.allProviders(config.providers)
	if f.MaxSteps != nil {
		if config.MaxSteps = *f.MaxSteps; config.MaxSteps < minSteps || config.MaxSteps > maxSteps {
			return Config{}, fmt.Errorf("max_steps must be between %d and %d", minSteps, maxSteps)
		}
	}
	config.MaySleep, config.MetricsListen, config.TraceURL = f.KeepAwake != nil && !*f.KeepAwake, f.MetricsListen, f.TraceURL
	if err := f.policies(&config); err != nil {
		return Config{}, err
	}
	sessions, err := f.sessionsConfig(getenv)
	if err != nil {
		return Config{}, err
	}
	config.sessions = sessions
	names := slices.Sorted(maps.Keys(f.Models))
	for _, name := range names {
		m, err := f.model(name)
		if err != nil {
			return Config{}, fmt.Errorf("models.%s: %w", name, err)
		}
		config.models[name] = m
	}
	if err := f.environment(&config); err != nil {
		return Config{}, err
	}
	if err := f.chooseSummaries(&config, names); err != nil {
		return Config{}, err
	}
	return config, f.chooseDefault(&config, names)
}

// allProviders lists the providers of the file and the given others, by name. The others win.
func (f configFile) allProviders(others []Provider) []Provider {
	all := slices.Clone(others)
	for name, p := range f.Providers {
		if !slices.ContainsFunc(others, func(other Provider) bool { return other.Name == name }) {
			all = append(all, p.provider(name))
		}
	}
	slices.SortFunc(all, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// policies validates the settings for what agents and commands may do.
func (f configFile) policies(config *Config) (err error) {
	if config.Permissions, err = f.Permissions.permissions(); err != nil {
		return err
	}
	if config.QuestionTimeout, err = f.Questions.wait(); err != nil {
		return err
	}
	if config.Sandbox, err = f.Sandbox.sandbox(); err != nil {
		return err
	}
	if config.Worktrees, err = f.Worktrees.folder(); err != nil {
		return err
	}
	config.Subagents, err = f.Subagents.subagents()
	return err
}

func (f configFile) chooseDefault(config *Config, names []string) error {
	switch {
	case f.DefaultModel != "":
		if _, ok := f.Models[f.DefaultModel]; !ok {
			return fmt.Errorf("default_model %q does not exist; the models are %s", f.DefaultModel, strings.Join(names, ", "))
		}
		config.defaultModel, config.fixed.named = f.DefaultModel, true
	case len(names) == 1:
		config.defaultModel = names[0]
	case len(names) > 1:
		return fmt.Errorf("default_model is missing; set it to one of %s", strings.Join(names, ", "))
	}
	return nil
}

func (f configFile) model(name string) (Model, error) {
	m := f.Models[name]
	provider, ok := f.Providers[m.Provider]
	switch {
	case m.Provider == "":
		return Model{}, errors.New("provider is missing")
	case !ok && len(f.Providers) == 0:
		return Model{}, fmt.Errorf("provider %q does not exist; add a [providers.%s]", m.Provider, m.Provider)
	case !ok:
		return Model{}, fmt.Errorf("provider %q does not exist; the providers are %s", m.Provider,
			strings.Join(slices.Sorted(maps.Keys(f.Providers)), ", "))
	case m.ID == "" && provider.Type != ProviderDemo:
		return Model{}, errors.New("id is missing; it is the provider's name for the model")
	}
	if err := m.check(); err != nil {
		return Model{}, err
	}
	return m.model(name, provider.provider(m.Provider), SourceConfig), nil
}

// model returns a checked model of a provider.
func (m modelFile) model(name string, provider Provider, source string) Model {
	id := m.ID
	if id == "" {
		id = "demo"
	}
	images := takesImages(provider.Type, id)
	if m.Images != nil {
		images = *m.Images
	}
	return Model{
		Name: name, Provider: provider.Name, Type: provider.Type, ID: id, BaseURL: provider.BaseURL, KeyEnv: provider.KeyEnv,
		ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Thinking: m.Thinking, Images: images,
		Price:  Price{m.PriceInput, m.PriceOutput, m.PriceCacheRead, m.PriceCacheWrite},
		Source: source, SavedProvider: provider.Source == SourceSaved, PublicOnly: provider.PublicOnly,
	}
}

func (m modelFile) check() error {
	switch {
	case m.ContextWindow < 0 || m.MaxTokens < 0:
		return errors.New("context_window and max_tokens must not be negative")
	case m.ContextWindow > 0 && m.MaxTokens > m.ContextWindow:
		return errors.New("max_tokens is larger than context_window")
	}
	if m.Thinking != "" && !slices.Contains(thinkingLevels[:], m.Thinking) {
		return fmt.Errorf("unknown thinking level %q; use one of %s", m.Thinking, strings.Join(thinkingLevels[:], ", "))
	}
	for _, price := range []float64{m.PriceInput, m.PriceOutput, m.PriceCacheRead, m.PriceCacheWrite} {
		if !(price >= 0 && price < 1e6) { // also rejects NaN
			return errors.New("a price is in US dollars per million tokens and must not be negative")
		}
	}
	return nil
}

func (p providerFile) provider(name string) Provider {
	return Provider{Name: name, Type: p.Type, BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, Source: SourceConfig}
}

func (p providerFile) check() error { return p.checkAs(providerTypes[:]) }

// checkAs checks a provider that has one of these types.
func (p providerFile) checkAs(types []string) error {
	last := len(types) - 1
	listed := strings.Join(types[:last], ", ") + " or " + types[last]
	switch {
	case p.Type == "":
		return fmt.Errorf("type is missing; it must be %s", listed)
	case !slices.Contains(types, p.Type):
		return fmt.Errorf("unknown type %q; use %s", p.Type, listed)
	}
	if p.BaseURL != "" {
		if err := checkURL(p.BaseURL, "http", "https"); err != nil {
			return fmt.Errorf("base_url %w", err)
		}
	}
	// The text is not repeated: it may be the key itself.
	if p.APIKeyEnv != "" && !environmentName.MatchString(p.APIKeyEnv) {
		return errors.New("api_key_env must be the name of an environment variable, not the key itself")
	}
	return nil
}

func checkURL(text string, schemes ...string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return fmt.Errorf("%q is not a URL that begins with %s://", text, strings.Join(schemes, ":// or "))
	}
	if u.User != nil {
		return errors.New("must not contain a user name or password")
	}
	return nil
}
