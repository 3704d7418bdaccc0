// Package model connects the turn loop to models: one file per provider.
//
//	openai            chat completions by SSE, on any compatible base URL
//	openai-responses  the responses API by SSE, without state on the server
//	anthropic         the messages API
//	google            Gemini's generateContent by SSE
//	demo              no network and no AI: a fixed set of answers for trying things out
//
// Every provider fulfills the contract of agent.Model: data is emitted as it arrives, a
// failure is a message with StopError and one sentence that says what to do, and canceling
// keeps what has arrived. A call that fails for a reason that may be temporary (a rate
// limit, a server error, a broken stream, a timeout) is retried up to three times.
//
// A history may contain messages of other providers and models: their tool calls get ids
// that this provider accepts, and their thinking is left out, because its signatures are
// valid only for them.
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

// Default base URLs.
const (
	DefaultOpenAIURL    = "https://api.openai.com/v1"
	DefaultAnthropicURL = "https://api.anthropic.com"
	DefaultGoogleURL    = "https://generativelanguage.googleapis.com/v1beta"
)

// DefaultURL returns the base URL of a type of provider, or "" for one without.
func DefaultURL(providerType string) string {
	switch providerType {
	case TypeOpenAI, TypeResponses:
		return DefaultOpenAIURL
	case TypeAnthropic:
		return DefaultAnthropicURL
	case TypeGoogle:
		return DefaultGoogleURL
	}
	return ""
}

// Config configures a provider.
type Config struct {
	Type      string // one of the types above
	Provider  string // its name, recorded in messages
	BaseURL   string // "" means the provider's own
	Key       Secret
	KeyEnv    string // environment variable that Key comes from, for messages to people
	Model     string // the provider's name for the model
	MaxTokens int    // per answer; 0 leaves it to the provider
	// Thinking is the default level for requests that set none; "" leaves it to the
	// provider.
	Thinking agent.ThinkingLevel
	Price    Price
	// Delay is the pause between two words of the demo model; 0 for none.
	Delay time.Duration

	// Saved says that a request saved the provider: it is changed in the settings of the machine,
	// and no redirect of its server is followed.
	Saved bool
	// SavedModel says so of the model, whose provider may be one of config.toml.
	SavedModel bool
	// Via makes the requests; nil is the usual transport.
	Via http.RoundTripper

	// last receives the failure of Probe's call; nil otherwise.
	last *failure
}

// Secret is a key. It is hidden in logs and formatted text.
type Secret string

// String hides the key.
func (Secret) String() string { return "[secret]" }

// GoString hides the key.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the key.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText hides the key.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// New returns the model that config describes.
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
	return nil, fmt.Errorf("model: unknown provider type %q; use openai, openai-responses, anthropic, google or demo", config.Type)
}

// idleTimeout is how long a stream may be silent before it counts as broken.
const idleTimeout = 300 * time.Second

// caller makes calls over HTTP. It is immutable after construction.
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
	client := &http.Client{Transport: config.Via, CheckRedirect: config.checkRedirect}
	return caller{config: config, http: client, idle: idleTimeout, retry: defaultRetry()}
}
