// Package agents answers the requests about agent definitions, and follows the limits that
// config.toml sets for subagents.
package agents

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/levenshtein"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/projectcontext"
	"github.com/scorel/scorel/apps/host/internal/rules"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/subagent"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/apps/host/internal/toolkit"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Options are the parts that the agents of a host depend on. All are required.
type Options struct {
	Logger   *slog.Logger
	Paths    state.Paths
	Config   state.Config
	Reload   func() (state.Config, error) // reads config.toml again
	Projects *state.Projects
	Trust    *state.Trust
	Context  *projectcontext.Source
	Catalog  *tool.Catalog
	Hub      *dispatch.Hub
	Models   Models
}

// Models are the models that a host can use now, which change with the keys that it has.
type Models interface {
	// Known reports whether there is a model with a name.
	Known(name string) bool
	// Default returns the name of the model for new sessions.
	Default() string
}

// Agents are the agent definitions of a host.
type Agents struct {
	Options
	live  *liveConfig
	files sync.Mutex // held while a definition is changed
}

// New makes the agents of a host. It fails if config.toml names a tool or an agent that does
// not exist.
func New(o Options) (*Agents, error) {
	s := &Agents{Options: o}
	if err := s.check(o.Config); err != nil {
		return nil, state.Misconfigured(err)
	}
	s.live = newLiveConfig(o.Paths.Config(), o.Config, o.Logger, s.reload, func() { o.Hub.Notify(api.AgentsChanged{}) })
	return s, nil
}

// Orchestrator makes the part that runs subagents, within the limits of config.toml.
func (s *Agents) Orchestrator() *subagent.Orchestrator {
	return subagent.New(subagent.Options{
		Limits: s.live.limits, Logger: s.Logger,
		Find: func(cwd string) agentdef.Found {
			found := s.found(cwd)
			s.live.notice(cwd, found)
			return found
		},
	})
}

// NotifyChanged notifies the clients that agents changed because of a request.
func (s *Agents) NotifyChanged() { s.live.agentsChanged() }

func (s *Agents) reload() (state.Config, error) {
	config, err := s.Reload()
	if err != nil {
		return config, err
	}
	return config, s.check(config)
}

func (s *Agents) check(config state.Config) error {
	return checkConfig(config, s.Catalog, s.Paths.Config(), agentNames(s.Paths, projectFolders(s.Projects)...))
}

func subagentLimits(config state.Subagents) subagent.Limits {
	limits := subagent.Limits{
		Enabled: config.Enabled, MaxConcurrent: config.MaxConcurrent, Permitted: config.Permitted, Tools: config.Tools,
		Backends: config.Backends,
		Agents:   map[string]subagent.AgentLimits{},
	}
	for name, agent := range config.Agents {
		limits.Agents[name] = subagent.AgentLimits(agent)
	}
	return limits
}

// agentPlaces say where the agents of a folder are, and what they may name.
func agentPlaces(source *projectcontext.Source, knownModel func(name string) bool, catalog *tool.Catalog, cwd string) agentdef.Places {
	subjects := rules.Subjects(catalog)
	return agentdef.Places{
		Places:     source.Places(cwd),
		KnownModel: knownModel,
		KnownTool:  func(name string) bool { _, ok := subjects[name]; return ok },
		CheckRule:  func(rule string) error { _, err := permission.ParseRule(rule, subjects); return err },
	}
}

// checkConfig returns an error for a tool or an agent that config.toml names and that does
// not exist. An agent exists if any of the folders has a file for it, trusted or not.
func checkConfig(config state.Config, catalog *tool.Catalog, path string, names []string) error {
	var tools []string
	for _, d := range catalog.Definitions() {
		tools = append(tools, d.Spec.Name)
	}
	subagents := config.Subagents
	checks := []named{{"crew.tools", "tool", "scorel tool list", subagents.Tools, tools}, {"crew.presets", "agent", "scorel agent list", subagents.Permitted, names},
		{"crew.backends", "backend", "scorel backend list", subagents.Backends, config.BackendNames()}}
	for _, name := range slices.Sorted(maps.Keys(subagents.Agents)) {
		key := "crew.agents." + name
		checks = append(checks, named{key, "agent", "scorel agent list", []string{name}, names},
			named{key + ".tools", "tool", "scorel tool list", subagents.Agents[name].Tools, tools},
			named{key + ".backends", "backend", "scorel backend list", subagents.Agents[name].Backends, config.BackendNames()})
	}
	for _, check := range checks {
		if name := check.unknown(); name != "" {
			return fmt.Errorf("%s: %s: there is no %s %q%s", config.Place(path, check.key, name), check.key, check.what, name, check.advice(name))
		}
	}
	return nil
}

// named is a list of config.toml that names tools or agents.
type named struct {
	key, what, command string
	list, known        []string
}

// unknown returns the first name that does not exist, or "". Which tools an MCP server
// has is known only once it runs, and an extension can be removed while the host runs.
func (n named) unknown() string {
	for _, name := range n.list {
		if !strings.HasPrefix(name, "mcp__") && !strings.Contains(name, ":") && !slices.Contains(n.known, name) {
			return name
		}
	}
	return ""
}

// advice says how to correct a name that does not exist.
func (n named) advice(name string) string {
	if nearest := levenshtein.Nearest(name, n.known); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return "; `" + n.command + "` lists them"
}

// agentNames are the names of all agents that any of the folders defines, trusted or not.
func agentNames(paths state.Paths, folders ...string) []string {
	var names []string
	for _, folder := range append([]string{paths.Home}, folders...) {
		places := definition.Places{Cwd: folder, Trusted: true, UserHome: machine.UserHome(), ScorelHome: paths.Home}
		names = append(names, agentdef.Find(agentdef.Places{Places: places}).Names...)
	}
	return names
}

// projectFolders are the folders of all projects of a home.
func projectFolders(projects *state.Projects) []string {
	var folders []string
	for _, project := range projects.List() {
		folders = append(folders, project.Path)
	}
	return folders
}

// Info describes an agent that another agent can give tasks to.
type Info struct {
	agentdef.Agent
	// Offered is false where config.toml keeps it from being used.
	Offered bool `json:"offered"`
}

// List lists the agents that a session in a folder can give tasks to, with notes on
// definitions that are left out or have problems. The folder is absolute.
//
// extensions returns where extensions have agents; nil has none.
func List(home, folder string, extensions func(cwd string) []definition.Extension) ([]Info, []string, error) {
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
	options, err := toolkit.Options(paths, config)
	if err != nil {
		return nil, nil, err
	}
	projects, err := state.LoadProjects(paths.Projects())
	if err != nil {
		return nil, nil, err
	}
	catalog := tool.NewCatalog(options)
	if err := checkConfig(config, catalog, paths.Config(), agentNames(paths, append(projectFolders(projects), folder)...)); err != nil {
		return nil, nil, err
	}
	known := func(name string) bool { _, ok := config.Model(name); return ok }
	found := agentdef.Find(agentPlaces(&projectcontext.Source{Paths: paths, Trust: trusted, Extensions: extensions}, known, catalog, folder))
	limits := subagentLimits(config.Subagents)
	list := make([]Info, 0, len(found.Agents))
	for _, agent := range found.Agents {
		allowed, ok := limits.Allow(agent)
		if ok {
			agent = allowed
		}
		list = append(list, Info{agent, ok})
	}
	return list, found.Notes, nil
}
