package host

import (
	"context"
	"encoding/json"

	"github.com/scorel/scorel/apps/host/internal/agents"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/models"
	"github.com/scorel/scorel/apps/host/internal/projectcontext"
	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/toolkit"
)

// This file holds what the command line does on a home itself, whether a host runs or not.

// Descriptions of what a home has.
type (
	// Agent describes an agent that another agent can give tasks to.
	Agent = agents.Info
	// Skill describes a skill of a folder.
	Skill = projectcontext.Skill
	// Tool describes a tool of the agent.
	Tool = toolkit.Tool
	// ModelInfo describes a model of a home.
	ModelInfo = models.Info
	// ModelEditor changes the models that are saved in a home whose host does not run.
	ModelEditor = models.Editor
	// ModelTest describes how a model answered one small call.
	ModelTest = models.TestResult
	// SecretInfo says where a secret of a home is kept. It never contains the secret.
	SecretInfo = secrets.Info
)

// ProviderSecret begins the variables of the keys of saved providers, which are shown by the name
// of the provider.
const ProviderSecret = state.ProviderSecret

// Errors of the functions that take a name.
var (
	// ErrNoModel means that there is no model with that name.
	ErrNoModel = models.ErrUnknown
	// ErrNoTool means that there is no tool with that name.
	ErrNoTool = toolkit.ErrUnknown
	// ErrKeyName means that a name is neither a provider nor a variable.
	ErrKeyName = secrets.ErrKeyName
)

// Agents lists the agents that a session in a folder can give tasks to, with notes on
// definitions that are left out or have problems. The folder is absolute.
func Agents(home, folder string) ([]Agent, []string, error) {
	return agents.List(home, folder, func(cwd string) []definition.Extension { return offlineExtensions(home, cwd) })
}

// Skills lists the skills of a folder, with notes on those that are left out. The folder is
// absolute.
func Skills(home, folder string) ([]Skill, []string, error) {
	return projectcontext.Skills(home, folder, func(cwd string) []definition.Extension { return offlineExtensions(home, cwd) })
}

// Tools lists the tools that the agent has on a home, by group and name. It fails if
// config.toml is invalid.
func Tools(home string) ([]Tool, error) { return toolkit.Describe(home) }

// RunTool makes one call by hand, in a session that ends with the call. object is the
// result for programs, and ok reports whether the tool succeeded. progress receives output
// while the tool runs. The error is ErrNoTool, or one of config.toml.
func RunTool(ctx context.Context, home, name string, args json.RawMessage, cwd string, progress func(string)) (object json.RawMessage, ok bool, err error) {
	return toolkit.Run(ctx, home, name, args, cwd, progress)
}

// Models lists the models that a home can use, by name. It fails if config.toml is invalid.
func Models(home string, getenv func(string) string) ([]ModelInfo, error) {
	return models.Describe(home, getenv)
}

// EditModels opens the saved models of a home whose host does not run. It fails if config.toml
// or models.json is invalid.
func EditModels(home string, getenv func(string) string) (*ModelEditor, error) {
	return models.OpenEditor(home, getenv)
}

// TestModel makes one small real call with a model of a home; "" is the primary one. A model
// that does not answer is not an error: see ModelTest.OK. The error is ErrNoModel, or one of
// config.toml.
func TestModel(ctx context.Context, home, name string, getenv func(string) string) (ModelTest, error) {
	return models.Test(ctx, home, name, getenv)
}

// KeyVariable returns the variable that holds the key of a provider.
func KeyVariable(home, name string, getenv func(string) string) (string, error) {
	return secrets.KeyVariable(home, name, getenv)
}

// SaveKey keeps the key of a variable. store "" is the system's key store if it can be used,
// and the file otherwise. SaveKey returns where the key is.
func SaveKey(ctx context.Context, home, variable, value, store string) (string, error) {
	return secrets.Save(ctx, home, variable, value, store)
}

// RemoveKey deletes the saved key of a variable; false if there is none.
func RemoveKey(ctx context.Context, home, variable string) (bool, error) {
	return secrets.Remove(ctx, home, variable)
}

// SavedKeys lists the keys of providers that are saved.
func SavedKeys(home string) ([]SecretInfo, error) { return secrets.Saved(home) }

// Secrets lists the secrets of a home and where each is kept.
func Secrets(home string) ([]SecretInfo, error) { return secrets.List(home) }

// MoveSecrets moves every secret of a home to the system's key store, or back to files. A
// secret that is already there stays. After an error, each secret is usable where it is.
func MoveSecrets(ctx context.Context, home, store string) error {
	return secrets.Move(ctx, home, store)
}
