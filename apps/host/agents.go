package host

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/crew"
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/preset"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
)

// newCrew makes what runs the agents of other agents.
func (h *Host) newCrew(catalog *tool.Catalog) *crew.Orchestrator {
	return crew.New(crew.Options{
		Limits: crewLimits(h.models.config.Crew), Logger: h.log,
		Find: func(cwd string) preset.Found { return findAgents(h.paths, h.trust, h.models.config, catalog, cwd) },
	})
}

func crewLimits(config state.Crew) crew.Limits {
	limits := crew.Limits{
		Enabled: config.Enabled, MaxConcurrent: config.MaxConcurrent, Presets: config.Presets, Tools: config.Tools,
		Agents: map[string]crew.AgentLimits{},
	}
	for name, agent := range config.Agents {
		limits.Agents[name] = crew.AgentLimits(agent)
	}
	return limits
}

func findAgents(paths state.Paths, trusted *state.Trust, config state.Config, catalog *tool.Catalog, cwd string) preset.Found {
	subjects := toolSubjects(catalog)
	return preset.Find(preset.Places{
		Places:     definitionPlaces(paths, trusted, cwd),
		KnownModel: func(name string) bool { _, ok := config.Model(name); return ok },
		KnownTool:  func(name string) bool { _, ok := subjects[name]; return ok },
		CheckRule:  func(rule string) error { _, err := gate.ParseRule(rule, subjects); return err },
	})
}

// checkCrew refuses tools that config.toml allows other agents and that are not there.
func checkCrew(config state.Crew, catalog *tool.Catalog, path string) error {
	lists := map[string][]string{"crew.tools": config.Tools}
	for name, agent := range config.Agents {
		lists["crew.agents."+name+".tools"] = agent.Tools
	}
	var known []string
	for _, d := range catalog.Definitions() {
		known = append(known, d.Spec.Name)
	}
	for where, list := range lists {
		for _, name := range list {
			if !strings.HasPrefix(name, "mcp__") && !slices.Contains(known, name) {
				return fmt.Errorf("%s: %s: there is no tool %q; `scorel tool list` shows the tools", path, where, name)
			}
		}
	}
	return nil
}

// Agent describes an agent that another agent can give tasks to.
type Agent struct {
	preset.Agent
	// Offered is false where config.toml keeps it from being used.
	Offered bool `json:"offered"`
}

// Agents lists the agents that a session in a folder can give tasks to, with notes
// on what is left out or odd. The folder is absolute.
func Agents(home, folder string) ([]Agent, []string, error) {
	paths := state.Paths{Home: home}
	config, err := state.LoadConfig(paths.Config(), os.Getenv)
	if err != nil {
		return nil, nil, err
	}
	trusted, err := state.LoadTrust(paths.Trust())
	if err != nil {
		return nil, nil, err
	}
	if folder, err = state.Canonical(folder); err != nil {
		return nil, nil, err
	}
	options, err := toolOptions(paths, config)
	if err != nil {
		return nil, nil, err
	}
	catalog := tool.NewCatalog(options)
	if err := checkCrew(config.Crew, catalog, paths.Config()); err != nil {
		return nil, nil, err
	}
	found := findAgents(paths, trusted, config, catalog, folder)
	limits := crewLimits(config.Crew)
	list := make([]Agent, 0, len(found.Agents))
	for _, agent := range found.Agents {
		allowed, ok := limits.Allow(agent)
		if ok {
			agent = allowed
		}
		list = append(list, Agent{agent, ok})
	}
	return list, found.Notes, nil
}
