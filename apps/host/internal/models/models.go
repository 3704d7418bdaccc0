// Package models makes the models that config.toml names, lists and tests them.
package models

import (
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// demoDelay is the pause between two words of the demo model, so that its streaming is
// visible.
const demoDelay = 20 * time.Millisecond

// Models are the models of config.toml, each made once. They implement sessions.Models and
// do not change.
type Models struct {
	config state.Config
	made   map[string]agent.Model
	listed []api.Model // by name
}

// New makes the models of a configuration.
func New(config state.Config) (_ *Models, err error) {
	m := &Models{config: config, made: map[string]agent.Model{}}
	for _, listed := range config.Models() {
		known, _ := config.Model(listed.Name)
		if m.made[listed.Name], err = makeModel(config, known); err != nil {
			return nil, state.Misconfigured(err)
		}
		for _, level := range model.Levels(modelConfig(config, known)) {
			listed.ThinkingLevels = append(listed.ThinkingLevels, string(level))
		}
		listed.Thinking = known.Thinking
		m.listed = append(m.listed, listed)
	}
	return m, nil
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
func (m *Models) List() []api.Model { return append([]api.Model{}, m.listed...) }

// Model implements sessions.Models.
func (m *Models) Model(name string) (agent.Model, api.Model, error) {
	for _, listed := range m.listed {
		if listed.Name == name {
			return m.made[name], listed, nil
		}
	}
	return nil, api.Model{}, api.Errorf(api.KindUnknownModel, "no model %.64q in config.toml: list the models, or add it there and restart the host", name)
}

// Find implements sessions.Models.
func (m *Models) Find(provider, id string) string {
	for _, listed := range m.listed {
		if listed.Provider == provider && listed.ID == id {
			return listed.Name
		}
	}
	return ""
}

// Default implements sessions.Models.
func (m *Models) Default() string { return m.config.Default() }

// Summaries says how summaries of sessions are made. The demo model cannot write them.
func (m *Models) Summaries() sessions.Summaries {
	s := sessions.Summaries{Share: m.config.Compaction.Share, KeepTokens: m.config.Compaction.KeepTokens}
	if name := m.config.Auxiliary(); name != "" {
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
