// Package models makes the models that config.toml names and that requests saved. It lists, tests
// and changes them, and is the owner of the list that the host uses.
package models

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model"
	"github.com/scorel/scorel/apps/host/internal/publicnet"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// demoDelay is the pause between two words of the demo model, so that its streaming is
// visible.
const demoDelay = 20 * time.Millisecond

// Models are the models of config.toml and models.json. They implement sessions.Models. They
// change when the key of a provider does, or when a request saves one of them.
type Models struct {
	changing sync.Mutex        // held by Rekey and change, so that the later of two changes stays
	public   http.RoundTripper // to public addresses only

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
	m := &Models{public: publicnet.Transport()}
	var err error
	m.made, err = m.makeAll(config)
	return m, err
}

func (m *Models) makeAll(config state.Config) (_ made, err error) {
	all := made{config: config, models: map[string]agent.Model{}}
	for _, listed := range config.Models() {
		known, _ := config.Model(listed.Name)
		if all.models[listed.Name], err = model.New(m.modelConfig(config, known)); err != nil {
			return made{}, state.Misconfigured(err)
		}
		for _, level := range model.Levels(m.modelConfig(config, known)) {
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
	m.changing.Lock()
	defer m.changing.Unlock()
	config, err := m.now().config.Rekeyed()
	if err != nil {
		return err
	}
	all, err := m.makeAll(config)
	if err != nil {
		return err
	}
	m.use(all)
	return nil
}

// change changes the file of saved models, and uses it when it is on disk.
func (m *Models) change(ctx context.Context, path string, edit func(state.Config, *state.SavedModels) error) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	var next made
	err := state.ChangeSavedModels(ctx, path, func(saved *state.SavedModels) (err error) {
		config := m.now().config
		if err = edit(config.WithSaved(*saved), saved); err != nil {
			return err
		}
		next, err = m.makeAll(config.WithSaved(*saved))
		return err
	})
	if err == nil {
		m.use(next)
	}
	return err
}

func (m *Models) use(all made) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made = all
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

func (m *Models) modelConfig(config state.Config, known state.Model) model.Config {
	var via http.RoundTripper // the usual one
	if known.PublicOnly {
		via = m.public
	}
	return model.Config{
		Type: known.Type, Provider: known.Provider, BaseURL: known.BaseURL,
		Key: model.Secret(config.Key(known)), KeyEnv: known.KeyEnv,
		Model: known.ID, MaxTokens: known.MaxTokens, Delay: demoDelay,
		Thinking: agent.ThinkingLevel(known.Thinking), Price: model.Price(known.Price),
		Saved: known.SavedProvider, SavedModel: known.Source == state.SourceSaved, Via: via,
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
	return nil, api.Model{}, api.Errorf(api.KindUnknownModel, "no model %.64q on this host: list the models, or add it in the settings of the machine or with `scorel model add`", name)
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
