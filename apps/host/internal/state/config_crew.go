package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Crew is what config.toml says of the agents that an agent can give tasks to.
type Crew struct {
	Enabled       bool
	MaxConcurrent int      // that work at once for one session
	Presets       []string // those that may be used, by name; none named is all
	Tools         []string // those that they may use at most; none named is all
	// Agents say more of single presets.
	Agents map[string]CrewAgent
}

// CrewAgent is what config.toml says of one preset.
type CrewAgent struct {
	Enabled       bool
	MaxConcurrent int      // of this preset
	Tools         []string // at most; none named is all
}

// Bounds of how many work at once.
const (
	defaultConcurrent = 3
	maxConcurrent     = 16
)

type crewFile struct {
	Enabled       *bool                    `toml:"enabled"`
	MaxConcurrent *int                     `toml:"max_concurrent"`
	Presets       []string                 `toml:"presets"`
	Tools         []string                 `toml:"tools"`
	Agents        map[string]crewAgentFile `toml:"agents"`
}

type crewAgentFile struct {
	Enabled       *bool    `toml:"enabled"`
	MaxConcurrent *int     `toml:"max_concurrent"`
	Tools         []string `toml:"tools"`
}

func crewKeys(agent bool) []string {
	if agent {
		return []string{"enabled", "max_concurrent", "tools"}
	}
	return []string{"enabled", "max_concurrent", "presets", "tools", "agents"}
}

func (f crewFile) crew() (Crew, error) {
	c := Crew{
		Enabled: f.Enabled == nil || *f.Enabled, MaxConcurrent: defaultConcurrent,
		Presets: f.Presets, Tools: f.Tools, Agents: map[string]CrewAgent{},
	}
	if f.MaxConcurrent != nil {
		c.MaxConcurrent = *f.MaxConcurrent
	}
	if err := checkCrew("crew", c.MaxConcurrent, f.Presets, f.Tools); err != nil {
		return c, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Agents)) {
		agent := CrewAgent{Enabled: f.Agents[name].Enabled == nil || *f.Agents[name].Enabled, MaxConcurrent: c.MaxConcurrent, Tools: f.Agents[name].Tools}
		if most := f.Agents[name].MaxConcurrent; most != nil {
			agent.MaxConcurrent = *most
		}
		if err := checkCrew("crew.agents."+name, agent.MaxConcurrent, agent.Tools); err != nil {
			return c, err
		}
		c.Agents[name] = agent
	}
	return c, nil
}

func checkCrew(where string, most int, lists ...[]string) error {
	if most < 1 || most > maxConcurrent {
		return fmt.Errorf("%s.max_concurrent must be between 1 and %d; enabled = false turns it off", where, maxConcurrent)
	}
	for _, list := range lists {
		if slices.ContainsFunc(list, func(name string) bool { return strings.TrimSpace(name) == "" }) {
			return fmt.Errorf("%s: a name in a list is empty; take it out", where)
		}
	}
	return nil
}
