// Package models makes the models that config.toml names, lists and tests them.
package models

import (
	"context"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// demoDelay is the pause between two words of the demo model, so that its streaming is
// visible.
const demoDelay = 20 * time.Millisecond

// Models are the models of config.toml. They implement sessions.Models. They change only
// when the key of a provider does.
type Models struct {
	rekeying sync.Mutex // held by Rekey, so that the later of two changes stays

	mu   sync.Mutex
	made made // replaced as a whole
}

// made are the models of a configuration with the keys that it had.
type made struct {
	config state.Config
	models map[string]agent.Model
	listed []api.Model // by name
}

// New makes the models of a configuration.
func New(config state.Config) (*Models, error) {
	all, err := makeAll(config)
	return &Models{made: all}, err
}

func makeAll(config state.Config) (_ made, err error) {
	all := made{config: config, models: map[string]agent.Model{}}
	for _, listed := range config.Models() {
		known, _ := config.Model(listed.Name)
		if all.models[listed.Name], err = makeModel(config, known); err != nil {
			return made{}, state.Misconfigured(err)
		}
		for _, level := range model.Levels(modelConfig(config, known)) {
			listed.ThinkingLevels = append(listed.ThinkingLevels, string(level))
		}
		listed.Thinking = known.Thinking
		all.listed = append(all.listed, listed)
	}
	return all, nil
}

// Rekey makes the models again with the keys that there are now. Calls that are running
// end with the key that they began with. If config.toml names no model, another one may be
// the default then.
func (m *Models) Rekey() error {
	m.rekeying.Lock()
	defer m.rekeying.Unlock()
	config, err := m.now().config.Rekeyed()
	if err != nil {
		return err
	}
	all, err := makeAll(config)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made = all
	return nil
}

func (m *Models) now() made {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made
}

// current is a model that uses the present key of its provider in each call.
type current struct {
	models *Models
	name   string
	first  agent.Model // as it was when a session chose it
}

// Stream implements agent.Model.
func (c current) Stream(ctx context.Context, request agent.Request, emit func(agent.Delta)) session.Message {
	called, ok := c.models.now().models[c.name]
	if !ok { // a turn ends with the model that it began with
		called = c.first
	}
	return called.Stream(ctx, request, emit)
}

func makeModel(config state.Config, known state.Model) (agent.Model, error) {
	return model.New(modelConfig(config, known))
}

func modelConfig(config state.Config, known state.Model) model.Config {
	return model.Config{
		Type: known.Type, Provider: known.Provider, BaseURL: known.BaseURL,
		Key: model.Secret(config.Key(known)), KeyEnv: known.KeyEnv,
		Model: known.ID, MaxTokens: known.MaxTokens, Delay: demoDelay,
		Thinking: agent.ThinkingLevel(known.Thinking), Price: model.Price(known.Price),
	}
}

// List returns the models by name.
func (m *Models) List() []api.Model { return append([]api.Model{}, m.now().listed...) }

// Model implements sessions.Models.
func (m *Models) Model(name string) (agent.Model, api.Model, error) {
	all := m.now()
	for _, listed := range all.listed {
		if listed.Name == name {
			return current{m, name, all.models[name]}, listed, nil
		}
	}
	return nil, api.Model{}, api.Errorf(api.KindUnknownModel, "no model %.64q in config.toml: list the models, or add it there and restart the host", name)
}

// Known reports whether there is a model with a name now.
func (m *Models) Known(name string) bool {
	_, ok := m.now().models[name]
	return ok
}

// Find implements sessions.Models.
func (m *Models) Find(provider, id string) string {
	for _, listed := range m.now().listed {
		if listed.Provider == provider && listed.ID == id {
			return listed.Name
		}
	}
	return ""
}

// Default implements sessions.Models.
func (m *Models) Default() string { return m.now().config.Default() }

// Summaries says how summaries of sessions are made. The demo model cannot write them.
func (m *Models) Summaries() sessions.Summaries {
	config := m.now().config
	s := sessions.Summaries{Share: config.Compaction.Share, KeepTokens: config.Compaction.KeepTokens}
	if name := config.Auxiliary(); name != "" {
		if made, listed, err := m.Model(name); err == nil && !listed.Demo {
			s.Model, s.Window = made, listed.ContextWindow
		}
	}
	return s
}

// DefaultModel describes the model that answers when a session chooses none.
func (m *Models) DefaultModel() api.Model {
	_, listed, err := m.Model(m.Default())
	if err != nil { // the configuration was checked: its default is one of its models
		return api.Model{}
	}
	return listed
}
