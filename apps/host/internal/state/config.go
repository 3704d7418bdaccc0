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

// providerTypes are the types in the order in which people are told of them.
var providerTypes = [...]string{ProviderOpenAI, ProviderResponses, ProviderAnthropic, ProviderGoogle, ProviderDemo}

// thinkingLevels are the words for how much a model thinks.
var thinkingLevels = [...]string{"off", "minimal", "low", "medium", "high"}

// Config is what config.toml says, checked. LoadConfig makes it.
type Config struct {
	RelayURL string // "" when the file does not name one
	Label    string // "" when the file does not name one
	Invite   string // to the relay; "" when the file does not name one
	MCP      map[string]MCPServer

	Permissions Permissions
	Sandbox     Sandbox
	Compaction  Compaction
	MaxSteps    int // model calls of one turn; 0 where the file does not say it
	Crew        Crew
	// QuestionTimeout is how long a question of the agent waits; 0 is for ever.
	QuestionTimeout time.Duration

	defaultModel string
	auxiliary    string // "" when the file does not name one
	models       map[string]Model
	keyEnvs      []string // of the providers of the file
	pass         []string // variables that commands get although they hold keys
	sessions     sessionConfig
	getenv       func(string) string
}

// Model is a model of the configuration together with its provider.
type Model struct {
	Name          string // in config.toml
	Provider      string // name of the provider in config.toml
	Type          string // one of the types above
	ID            string // the provider's name for it
	BaseURL       string // "" is the provider's own
	KeyEnv        string // the variable that holds the key; "" for none
	ContextWindow int    // tokens; 0 is not known
	MaxTokens     int    // tokens of one answer; 0 leaves it to the provider
	Thinking      string // off, minimal, low, medium or high; "" leaves it to the provider
	Price         Price
}

// Price is what a million tokens cost, in US dollars; 0 is not known.
type Price struct {
	Input, Output         float64
	CacheRead, CacheWrite float64 // 0 counts as input
}

// Default returns the name of the model that new sessions use.
func (c Config) Default() string { return c.defaultModel }

// Auxiliary returns the name of the model that writes summaries and titles, or "".
func (c Config) Auxiliary() string { return c.auxiliary }

// Model returns the model of that name; "" is the default.
func (c Config) Model(name string) (Model, bool) {
	m, ok := c.models[cmp.Or(name, c.defaultModel)]
	return m, ok
}

// Key reads the key of a model from the environment; "" when it has none.
func (c Config) Key(m Model) string {
	if m.KeyEnv == "" {
		return ""
	}
	return c.getenv(m.KeyEnv)
}

// SecretEnvs returns the names of all variables that hold keys or addresses with
// passwords of the host's own, sorted.
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

// Models lists the models by name, as entries see them.
func (c Config) Models() []api.Model {
	out := make([]api.Model, 0, len(c.models))
	for _, m := range c.models {
		out = append(out, api.Model{
			Name: m.Name, Provider: m.Provider, ID: m.ID, ContextWindow: m.ContextWindow, Demo: m.Type == ProviderDemo,
		})
	}
	slices.SortFunc(out, func(a, b api.Model) int { return cmp.Compare(a.Name, b.Name) })
	return out
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

// builtinModel is the model of a machine without a config.toml: that of the
// first key that the environment holds, else the demo.
func builtinModel(getenv func(string) string) Model {
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

func builtinConfig(getenv func(string) string) (Config, error) {
	m := builtinModel(getenv)
	if m.BaseURL != "" {
		if err := checkURL(m.BaseURL, "http", "https"); err != nil {
			return Config{}, fmt.Errorf("OPENAI_BASE_URL %w", err)
		}
	}
	config := Config{Compaction: defaultCompaction(), defaultModel: m.Name, models: map[string]Model{m.Name: m}, getenv: getenv}
	return config, configFile{}.policies(&config)
}
