package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Subagents configures the agents that an agent can give tasks to.
type Subagents struct {
	Enabled       bool
	MaxConcurrent int      // running at once for one session
	Permitted     []string // permitted agent definitions, by name; nil permits all, an empty list none
	Tools         []string // tools they may use at most; nil permits all, an empty list none
	// Backends are the programs that may work on tasks of agents whose tools are not limited.
	Backends []string
	// Agents has settings for single agent definitions.
	Agents map[string]SubagentAgent
}

// SubagentAgent configures one agent definition.
type SubagentAgent struct {
	Enabled       bool
	MaxConcurrent int      // running at once with this definition
	Tools         []string // tools at most; nil permits all, an empty list none
	Backends      []string // programs that may work on its tasks, although its limits of tools do not bind them
}

// Bounds of max_concurrent.
const (
	defaultConcurrent = 3
	maxConcurrent     = 16
)

type subagentFile struct {
	Enabled       *bool                        `toml:"enabled"`
	MaxConcurrent *int                         `toml:"max_concurrent"`
	Permitted     []string                     `toml:"presets"`
	Tools         []string                     `toml:"tools"`
	Backends      []string                     `toml:"backends"`
	Agents        map[string]subagentAgentFile `toml:"agents"`
}

type subagentAgentFile struct {
	Enabled       *bool    `toml:"enabled"`
	MaxConcurrent *int     `toml:"max_concurrent"`
	Tools         []string `toml:"tools"`
	Backends      []string `toml:"backends"`
}

func subagentKeys(agent bool) []string {
	if agent {
		return []string{"enabled", "max_concurrent", "tools", "backends"}
	}
	return []string{"enabled", "max_concurrent", "presets", "tools", "backends", "agents"}
}

func (f subagentFile) subagents() (Subagents, error) {
	c := Subagents{
		Enabled: f.Enabled == nil || *f.Enabled, MaxConcurrent: defaultConcurrent,
		Permitted: f.Permitted, Tools: f.Tools, Backends: f.Backends, Agents: map[string]SubagentAgent{},
	}
	if f.MaxConcurrent != nil {
		c.MaxConcurrent = *f.MaxConcurrent
	}
	if err := checkSubagents("crew", c.MaxConcurrent, f.Permitted, f.Tools, f.Backends); err != nil {
		return c, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Agents)) {
		agent := SubagentAgent{Enabled: f.Agents[name].Enabled == nil || *f.Agents[name].Enabled, MaxConcurrent: c.MaxConcurrent, Tools: f.Agents[name].Tools, Backends: f.Agents[name].Backends}
		if most := f.Agents[name].MaxConcurrent; most != nil {
			agent.MaxConcurrent = *most
		}
		if err := checkSubagents("crew.agents."+name, agent.MaxConcurrent, agent.Tools, agent.Backends); err != nil {
			return c, err
		}
		c.Agents[name] = agent
	}
	return c, nil
}

func checkSubagents(where string, most int, lists ...[]string) error {
	if most < 1 || most > maxConcurrent {
		return fmt.Errorf("%s.max_concurrent must be between 1 and %d; to disable subagents, set enabled = false", where, maxConcurrent)
	}
	for _, list := range lists {
		if slices.ContainsFunc(list, func(name string) bool { return strings.TrimSpace(name) == "" }) {
			return fmt.Errorf("%s: a list contains an empty name; remove it", where)
		}
	}
	return nil
}
