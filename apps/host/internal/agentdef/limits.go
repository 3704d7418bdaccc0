package agentdef

import (
	"fmt"
	"maps"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/definition"
)

// Bounds of the values in a file.
const (
	MinTurns  = 2 // the last turn has no tools
	MaxTurns  = 1000
	MaxAtOnce = 16
)

// limit reads whether the agent is enabled, and its limits. It returns false if a value is
// invalid.
func (f *finder) limit(agent *Agent, d definition.Document) bool {
	var problem error
	number := func(least, most int, names ...string) int {
		for _, name := range names {
			switch value := d.Fields[name].(type) {
			case nil:
			case int:
				if value >= least && value <= most {
					return value
				}
				problem = fmt.Errorf("%s: %s must be between %d and %d", at(agent.Path, d, name, ""), name, least, most)
			default:
				problem = fmt.Errorf("%s: %s must be a whole number", at(agent.Path, d, name, ""), name)
			}
		}
		return 0
	}
	agent.MaxTurns = number(MinTurns, MaxTurns, "max_turns", "maxTurns")
	agent.MaxConcurrent = number(1, MaxAtOnce, "max_concurrent", "maxConcurrent")
	switch value := d.Fields["enabled"].(type) {
	case nil:
	case bool:
		agent.Disabled = !value
	default:
		problem = fmt.Errorf("%s: enabled must be true or false", at(agent.Path, d, "enabled", ""))
	}
	if !readable(d.Fields["subagents"]) {
		problem = fmt.Errorf("%s: subagents is neither a string nor a list of names", at(agent.Path, d, "subagents", ""))
	}
	agent.Subagents = list(d.Fields["subagents"])
	if problem != nil {
		f.Note("%v; the agent is left out", problem)
		return false
	}
	return true
}

// MayDelegate reports whether a session that runs as the agent may give tasks to another
// one.
func (a Agent) MayDelegate(name string) bool { return Permits(a.Subagents, name) }

// checkSubagents notes unknown subagents, once all agents are known.
func (f *finder) checkSubagents() {
	for _, name := range slices.Sorted(maps.Keys(f.named)) {
		for _, other := range f.named[name].Subagents {
			if _, ok := f.named[other]; !ok {
				f.Note("%s: subagents: there is no agent %.60q; the name is skipped", f.named[name].Path, other)
			}
		}
	}
}
