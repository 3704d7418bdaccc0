package models

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Info describes a model of config.toml or models.json.
type Info struct {
	Name     string `json:"name"`
	Source   string `json:"source,omitempty"` // "config.toml" or "models.json"; absent for one of the environment
	Provider string `json:"provider"`
	Type     string `json:"type"` // what the provider speaks
	ID       string `json:"id"`   // the provider's name for the model
	BaseURL  string `json:"baseUrl,omitempty"`
	// Roles are "primary" for new sessions, and "auxiliary" for summaries of them.
	Roles  []string `json:"roles"`
	KeyEnv string   `json:"keyEnv,omitempty"` // the variable that holds the key; absent for a saved provider
	// ProviderSource is "models.json" if a request saved the provider.
	ProviderSource string `json:"providerSource,omitempty"`
	// KeySet is true when that variable is set here, or the key saved; it may differ where the
	// host runs. A saved provider may need no key.
	KeySet        bool   `json:"keySet"`
	Problem       string `json:"problem,omitempty"`       // why a saved model is not used, for people
	ContextWindow int    `json:"contextWindow,omitempty"` // tokens
	MaxTokens     int    `json:"maxTokens,omitempty"`     // tokens of one answer
	Thinking      string `json:"thinking,omitempty"`
	Images        bool   `json:"images,omitempty"` // it takes images
	Price         *Price `json:"price,omitempty"`
}

// Price is the cost of a million tokens, in US dollars.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead,omitempty"`
	CacheWrite float64 `json:"cacheWrite,omitempty"`
}

// ErrUnknown means that there is no model with that name.
var ErrUnknown = errors.New("there is no such model")

// Describe lists the models that a home can use, by name. It fails if config.toml is
// invalid.
func Describe(home string, getenv func(string) string) ([]Info, error) {
	getenv, err := secrets.Environment(home, getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	config, err := state.LoadConfig(state.Paths{Home: home}.Config(), getenv)
	if err != nil {
		return nil, err
	}
	all := []Info{}
	for _, listed := range config.Models() {
		m, _ := config.Model(listed.Name)
		info := Info{
			Name: m.Name, Source: m.Source, Provider: m.Provider, Type: m.Type, ID: m.ID, BaseURL: m.BaseURL, Roles: []string{},
			KeyEnv: m.KeyEnv, KeySet: config.Key(m) != "", ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Thinking: m.Thinking, Images: m.Images,
		}
		if p, _ := config.Provider(m.Provider); p.Source == state.SourceSaved {
			info.ProviderSource, info.KeyEnv = p.Source, ""
		}
		if m.Name == config.Default() {
			info.Roles = append(info.Roles, "primary")
		}
		if m.Name == config.Auxiliary() {
			info.Roles = append(info.Roles, "auxiliary")
		}
		if m.Price != (state.Price{}) {
			info.Price = &Price{m.Price.Input, m.Price.Output, m.Price.CacheRead, m.Price.CacheWrite}
		}
		all = append(all, info)
	}
	return append(all, unused(config)...), nil
}

// unused describes the saved models without a provider: they keep their names.
func unused(config state.Config) (list []Info) {
	for _, name := range config.Saved().ModelNames() {
		if _, used := config.Model(name); !used {
			m := config.Saved().Models[name]
			list = append(list, Info{Name: name, Source: state.SourceSaved, Provider: m.Provider, ID: m.ID, Roles: []string{}, Problem: noProvider(m.Provider)})
		}
	}
	return list
}

// TestResult describes how a model answered one small call.
type TestResult struct {
	Name   string         `json:"name"`
	OK     bool           `json:"ok"`
	Reason string         `json:"reason,omitempty"` // key_missing, key_refused, unknown_model, unreachable, busy or failed
	Error  string         `json:"error,omitempty"`  // for people, with what to do
	Millis int64          `json:"ms"`
	Usage  *session.Usage `json:"usage,omitempty"`
}

// testTimeout bounds the whole of one test.
const testTimeout = time.Minute

// Test makes one small real call with a model of a home; "" is the primary
// one. A model that does not answer is no error: see TestResult.OK. The error is
// ErrUnknown, or that of config.toml.
func Test(ctx context.Context, home, name string, getenv func(string) string) (TestResult, error) {
	getenv, err := secrets.Environment(home, getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		return TestResult{}, err
	}
	config, err := state.LoadConfig(state.Paths{Home: home}.Config(), getenv)
	if err != nil {
		return TestResult{}, err
	}
	m, err := New(config)
	if err != nil {
		return TestResult{}, err
	}
	return m.Test(ctx, name)
}

// Test makes one small real call with a model; "" is the primary one. A model that does not
// answer is reported by TestResult.OK. The error is ErrUnknown if there is none with the name.
func (m *Models) Test(ctx context.Context, name string) (TestResult, error) {
	config := m.now().config
	known, ok := config.Model(name)
	if !ok {
		return TestResult{}, ErrUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	result := TestResult{Name: known.Name}
	begin := time.Now()
	message, err := model.Probe(ctx, m.modelConfig(config, known))
	result.Millis = time.Since(begin).Milliseconds()
	var failed *model.ProbeError
	switch {
	case err == nil:
		result.OK, result.Usage = true, message.Usage
	case errors.As(err, &failed):
		result.Reason, result.Error = string(failed.Reason), failed.Text
	default:
		return result, fmt.Errorf("testing the model %s: %w", known.Name, err)
	}
	return result, nil
}
