package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Types of providers in config.toml.
const (
	ProviderOpenAI    = "openai"
	ProviderResponses = "openai-responses"
	ProviderAnthropic = "anthropic"
	ProviderGoogle    = "google"
	ProviderDemo      = "demo"
)

// providerTypes lists the types in display order.
var providerTypes = [...]string{ProviderOpenAI, ProviderResponses, ProviderAnthropic, ProviderGoogle, ProviderDemo}

// thinkingLevels are the names for how much a model thinks.
var thinkingLevels = [...]string{"off", "minimal", "low", "medium", "high"}

// Config is the validated content of config.toml, with the models that requests saved.
// LoadConfig creates it.
type Config struct {
	RelayURLs []string // relay_url, then relay_urls
	Label     string   // "" if not set
	Invite    string   // to the first relay; "" if not set
	MCP       map[string]MCPServer
	// MCPClient is the address of the document that describes this client to authorization
	// servers of MCP servers; "" if not set.
	MCPClient string
	Hooks     []Hook
	Budgets   Budgets
	Backends  map[string]Backend

	Permissions   Permissions
	Sandbox       Sandbox
	Compaction    Compaction
	MaxSteps      int    // model calls per turn; 0 if not set
	MetricsListen string // address of this machine at which metrics are served; "" serves none
	TraceURL      string // of the collector that spans are sent to; "" sends none
	// MaySleep lets the machine go to sleep while turns run.
	MaySleep  bool
	Subagents Subagents
	// Worktrees is the folder for the worktrees of sessions; "" is one beside the home.
	Worktrees string
	// QuestionTimeout is how long a question of the agent waits; 0 means forever.
	QuestionTimeout time.Duration

	fixed         fixedModels
	saved         SavedModels
	defaultModel  string
	defaultSource string
	auxiliary     string // "" if not set
	models        map[string]Model
	builtin       bool // config.toml names no model
	providers     []Provider
	keyEnvs       []string // of the configured providers
	pass          []string // variables that commands get although they hold keys
	sessions      sessionConfig
	getenv        func(string) string
	lines         lines
}

// Model is a configured model together with its provider.
type Model struct {
	Name          string
	Provider      string // name of the provider
	Type          string // one of the types above
	ID            string // the provider's name for it
	BaseURL       string // "" means the provider's own
	KeyEnv        string // variable that holds the key; "" for none
	ContextWindow int    // tokens; 0 means unknown
	MaxTokens     int    // tokens per answer; 0 leaves it to the provider
	Thinking      string // off, minimal, low, medium or high; "" leaves it to the provider
	Images        bool   // whether it accepts images
	Price         Price
	Source        string // SourceConfig, SourceSaved, or "" for the environment
	SavedProvider bool   // its provider is one that a request saved
	PublicOnly    bool   // its provider connects to public addresses only
}

// Provider is a configured provider.
type Provider struct {
	Name       string
	Type       string // one of the types above
	BaseURL    string // "" means the provider's own
	KeyEnv     string // variable that holds the key; "" for none
	Source     string // SourceConfig, SourceSaved, or "" for the environment
	PublicOnly bool   // it connects to public addresses only
}

// Price is the price of a million tokens in US dollars; 0 means unknown.
type Price struct {
	Input, Output         float64
	CacheRead, CacheWrite float64 // 0 means the price of input
}

// Default returns the name of the model for new sessions.
func (c Config) Default() string { return c.defaultModel }

// Auxiliary returns the name of the model that writes summaries and titles, or "".
func (c Config) Auxiliary() string { return c.auxiliary }

// Model returns the model with a name; "" means the default.
func (c Config) Model(name string) (Model, bool) {
	m, ok := c.models[cmp.Or(name, c.defaultModel)]
	return m, ok
}

// Key returns the key of a model from the environment, or "".
func (c Config) Key(m Model) string {
	if m.KeyEnv == "" {
		return ""
	}
	return c.getenv(m.KeyEnv)
}

// SecretEnvs returns the sorted names of all variables that hold the host's own keys, or
// addresses with passwords.
func (c Config) SecretEnvs() []string {
	names := append(c.sessionEnvs(), c.keyEnvs...)
	for _, m := range c.models {
		if m.KeyEnv != "" {
			names = append(names, m.KeyEnv)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Models lists the models by name, as shown to entries.
func (c Config) Models() []api.Model {
	out := make([]api.Model, 0, len(c.models))
	for _, m := range c.models {
		out = append(out, api.Model{
			Name: m.Name, Provider: m.Provider, ID: m.ID, ContextWindow: m.ContextWindow, Images: m.Images, Demo: m.Type == ProviderDemo,
		})
	}
	slices.SortFunc(out, func(a, b api.Model) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Providers lists the providers by name: those of config.toml, those that requests saved and,
// if config.toml names no model, those of the models that are used then.
func (c Config) Providers() []Provider { return slices.Clone(c.providers) }

// Rekeyed returns the configuration with the model that the present keys select, if
// config.toml names no model; else the configuration as it is.
func (c Config) Rekeyed() (Config, error) {
	if !c.builtin {
		return c, nil
	}
	m, err := checkedBuiltin(c.getenv)
	c.fixed.byDefault, c.fixed.models = m.Name, map[string]Model{m.Name: m}
	return c.WithSaved(c.saved), err
}

// Models that are used without a config.toml.
const (
	defaultAnthropicID     = "claude-sonnet-4-5"
	defaultAnthropicWindow = 200_000
	defaultOpenAIID        = "gpt-5"
	defaultOpenAIWindow    = 400_000
	defaultGoogleID        = "gemini-2.5-pro"
	defaultGoogleWindow    = 1_048_576
)

// builtinModel returns the model of a machine without a config.toml: that of the first key
// in the environment, or else the demo.
func builtinModel(getenv func(string) string) Model {
	m := keyedModel(getenv)
	m.Images = takesImages(m.Type, m.ID)
	return m
}

func keyedModel(getenv func(string) string) Model {
	switch {
	case getenv("ANTHROPIC_API_KEY") != "":
		return Model{
			Name: "anthropic", Provider: "anthropic", Type: ProviderAnthropic, ID: defaultAnthropicID,
			KeyEnv: "ANTHROPIC_API_KEY", ContextWindow: defaultAnthropicWindow,
		}
	case getenv("OPENAI_API_KEY") != "":
		return Model{
			Name: "openai", Provider: "openai", Type: ProviderOpenAI, ID: defaultOpenAIID, BaseURL: getenv("OPENAI_BASE_URL"),
			KeyEnv: "OPENAI_API_KEY", ContextWindow: defaultOpenAIWindow,
		}
	case getenv("GEMINI_API_KEY") != "":
		return Model{
			Name: "google", Provider: "google", Type: ProviderGoogle, ID: defaultGoogleID,
			KeyEnv: "GEMINI_API_KEY", ContextWindow: defaultGoogleWindow,
		}
	}
	return Model{Name: "demo", Provider: "demo", Type: ProviderDemo, ID: "demo"}
}

// builtinProviders are the providers of the models that keyedModel chooses from.
func builtinProviders(getenv func(string) string) []Provider {
	return []Provider{
		{Name: "anthropic", Type: ProviderAnthropic, KeyEnv: "ANTHROPIC_API_KEY"},
		{Name: "google", Type: ProviderGoogle, KeyEnv: "GEMINI_API_KEY"},
		{Name: "openai", Type: ProviderOpenAI, BaseURL: getenv("OPENAI_BASE_URL"), KeyEnv: "OPENAI_API_KEY"},
	}
}

func checkedBuiltin(getenv func(string) string) (Model, error) {
	m := builtinModel(getenv)
	if m.BaseURL != "" {
		if err := checkURL(m.BaseURL, "http", "https"); err != nil {
			return m, fmt.Errorf("OPENAI_BASE_URL %w", err)
		}
	}
	return m, nil
}

func builtinConfig(getenv func(string) string) (Config, error) {
	m, err := checkedBuiltin(getenv)
	if err != nil {
		return Config{}, err
	}
	config := Config{
		Compaction: defaultCompaction(), defaultModel: m.Name, models: map[string]Model{m.Name: m},
		builtin: true, providers: builtinProviders(getenv), getenv: getenv,
	}
	return config, configFile{}.policies(&config)
}
