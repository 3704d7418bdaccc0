package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// ModelInfo describes a model of config.toml.
type ModelInfo struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Type     string `json:"type"` // what the provider speaks
	ID       string `json:"id"`   // the provider's name for the model
	BaseURL  string `json:"baseUrl,omitempty"`
	// Roles are "primary" for new sessions, and "auxiliary" for summaries of them.
	Roles  []string `json:"roles"`
	KeyEnv string   `json:"keyEnv,omitempty"` // the variable that holds the key
	// KeySet is true when that variable is set here; it may differ where the host runs.
	KeySet        bool        `json:"keySet"`
	ContextWindow int         `json:"contextWindow,omitempty"` // tokens
	MaxTokens     int         `json:"maxTokens,omitempty"`     // tokens of one answer
	Thinking      string      `json:"thinking,omitempty"`
	Price         *ModelPrice `json:"price,omitempty"`
}

// ModelPrice is what a million tokens cost, in US dollars.
type ModelPrice struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead,omitempty"`
	CacheWrite float64 `json:"cacheWrite,omitempty"`
}

// ErrNoModel says that there is no model of that name.
var ErrNoModel = errors.New("there is no such model")

// Models lists the models that a home can use, by name. The config.toml must be right.
func Models(home string, getenv func(string) string) ([]ModelInfo, error) {
	config, err := state.LoadConfig(state.Paths{Home: home}.Config(), getenv)
	if err != nil {
		return nil, err
	}
	all := []ModelInfo{}
	for _, listed := range config.Models() {
		m, _ := config.Model(listed.Name)
		info := ModelInfo{
			Name: m.Name, Provider: m.Provider, Type: m.Type, ID: m.ID, BaseURL: m.BaseURL, Roles: []string{},
			KeyEnv: m.KeyEnv, KeySet: config.Key(m) != "", ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Thinking: m.Thinking,
		}
		if m.Name == config.Default() {
			info.Roles = append(info.Roles, "primary")
		}
		if m.Name == config.Auxiliary() {
			info.Roles = append(info.Roles, "auxiliary")
		}
		if m.Price != (state.Price{}) {
			info.Price = &ModelPrice{m.Price.Input, m.Price.Output, m.Price.CacheRead, m.Price.CacheWrite}
		}
		all = append(all, info)
	}
	return all, nil
}

// ModelTest is how a model answered one small call.
type ModelTest struct {
	Name   string         `json:"name"`
	OK     bool           `json:"ok"`
	Reason string         `json:"reason,omitempty"` // key_missing, key_refused, unknown_model, unreachable, busy or failed
	Error  string         `json:"error,omitempty"`  // for people, with what to do
	Millis int64          `json:"ms"`
	Usage  *session.Usage `json:"usage,omitempty"`
}

// testTimeout bounds the whole of one test.
const testTimeout = time.Minute

// TestModel makes one small real call with a model of a home; "" is the primary
// one. A model that does not answer is no error: see ModelTest.OK. The error is
// ErrNoModel, or that of config.toml.
func TestModel(ctx context.Context, home, name string, getenv func(string) string) (ModelTest, error) {
	config, err := state.LoadConfig(state.Paths{Home: home}.Config(), getenv)
	if err != nil {
		return ModelTest{}, err
	}
	known, ok := config.Model(name)
	if !ok {
		return ModelTest{}, ErrNoModel
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	result := ModelTest{Name: known.Name}
	begin := time.Now()
	message, err := model.Probe(ctx, modelConfig(config, known))
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
