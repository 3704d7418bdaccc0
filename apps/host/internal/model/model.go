// Package model connects the turn loop to models: one file per provider.
//
//	openai            chat completions by SSE, on any compatible base URL
//	openai-responses  the responses API by SSE, without state at the server
//	anthropic         the messages API, by the official SDK
//	google            Gemini's generateContent by SSE
//	demo              no network and no AI: a fixed set of answers, for trying things out
//
// Every provider keeps the contract of agent.Model: what arrives is emitted at
// once, a failure is a message with StopError and one sentence that says what to
// do, and a cancel keeps what had arrived. A call that fails for a reason that
// may pass (a limit, a fault of the server, a broken stream, silence) is made
// again up to three times.
//
// A history may hold messages of other providers and models: their tool calls get
// ids that this provider takes, and their thinking, whose signatures are theirs,
// is left out.
package model

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// Provider types of Config.
const (
	TypeOpenAI    = "openai"
	TypeResponses = "openai-responses"
	TypeAnthropic = "anthropic"
	TypeGoogle    = "google"
	TypeDemo      = "demo"
)

// Base URLs that are used when Config names none.
const (
	DefaultOpenAIURL    = "https://api.openai.com/v1"
	DefaultAnthropicURL = "https://api.anthropic.com"
	DefaultGoogleURL    = "https://generativelanguage.googleapis.com/v1beta"
)

// Config is all that a provider needs to know.
type Config struct {
	Type      string // one of the types above
	Provider  string // its name in config.toml, written into messages
	BaseURL   string // "" is the provider's own
	Key       Secret
	KeyEnv    string // the environment variable that Key comes from, for messages to people
	Model     string // the provider's name of the model
	MaxTokens int    // of one answer; 0 leaves it to the provider
	// Thinking is the level of requests that name none; "" leaves it to the provider.
	Thinking agent.ThinkingLevel
	Price    Price
	// Delay is the pause between two words of the demo model; 0 is none.
	Delay time.Duration

	// last is where Probe finds the failure of its call; nil for all others.
	last *failure
}

// Secret is a key. It does not show in logs and formatted text.
type Secret string

// String hides the key.
func (Secret) String() string { return "[secret]" }

// GoString hides the key.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the key.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText hides the key.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// New makes the model that config describes.
func New(config Config) (agent.Model, error) {
	if config.Model == "" && config.Type != TypeDemo {
		return nil, fmt.Errorf("model: provider %q has no model id", config.Provider)
	}
	switch config.Type {
	case TypeOpenAI:
		return newOpenAI(config), nil
	case TypeResponses:
		return newResponses(config), nil
	case TypeGoogle:
		return newGoogle(config), nil
	case TypeAnthropic:
		return newAnthropic(config), nil
	case TypeDemo:
		return newDemo(config), nil
	}
	return nil, fmt.Errorf("model: provider type %q is unknown; it must be openai, openai-responses, anthropic, google or demo", config.Type)
}

// idleTimeout is how long a stream may say nothing before it counts as broken.
const idleTimeout = 300 * time.Second

// caller makes calls over HTTP. It is not changed after construction.
type caller struct {
	config Config
	http   *http.Client
	idle   time.Duration
	retry  retryPolicy
}

func newCaller(config Config, defaultURL string) caller {
	if config.BaseURL == "" {
		config.BaseURL = defaultURL
	}
	config.BaseURL = strings.TrimRight(config.BaseURL, "/")
	return caller{config: config, http: &http.Client{}, idle: idleTimeout, retry: defaultRetry()}
}
