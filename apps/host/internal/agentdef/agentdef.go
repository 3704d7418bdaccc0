// Package agentdef finds the agents that another agent can give tasks to: Markdown files
// whose front matter has a name, a description, and optionally a model and tools, and whose
// body is the agent's system prompt. Package definition says where the files are and how
// they are read. The built-in agents come last.
package agentdef

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/definition"
)

// Scope is where an agent definition comes from.
type Scope string

const (
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
	ScopeBuiltin Scope = "built in"
	// ScopeExtension is an agent of an extension, named EXTENSION:NAME.
	ScopeExtension Scope = "extension"
)

// Agent is one agent definition.
type Agent struct {
	Name        string `json:"name"`        // lowercase letters, digits and hyphens
	Description string `json:"description"` // one line
	Scope       Scope  `json:"scope"`
	Path        string `json:"path,omitempty"`  // path of its file; "" for a built-in agent
	Model       string `json:"model,omitempty"` // its name on the host; "" means the caller's model
	// Tools are the only tools that it may use: nil permits all, an empty list none. A name
	// that ends in * matches every tool with that prefix.
	Tools []string `json:"tools,omitzero"`
	// Without are the tools that it may not use.
	Without []string `json:"without,omitempty"`
	// Only holds rules that limit tools to certain calls, and Deny rules for calls that it
	// may not make; both in the syntax of config.toml.
	Only []string `json:"only,omitempty"`
	Deny []string `json:"deny,omitempty"`
	Body string   `json:"body"` // Markdown
	// Subagents names the agents that a session running as this one may give tasks to: nil
	// permits all, an empty list none.
	Subagents []string `json:"subagents,omitzero"`
	// MaxConcurrent is how many may run at once for one session, and MaxTurns how many
	// model calls a task may make; 0 leaves it to the host.
	MaxConcurrent int `json:"maxConcurrent,omitempty"`
	MaxTurns      int `json:"maxTurns,omitempty"`
	// Written holds fields as the file has them.
	Written Written `json:"-"`
	// Disabled is true if the file says enabled: false. The agent is listed but not used.
	Disabled bool `json:"disabled,omitempty"`
}

// Written holds the tools and the model of a file, before they are interpreted.
type Written struct {
	Tools, Without []string // names and patterns; nil if the field is missing
	Model          string
}

// Found is the result of a search.
type Found struct {
	Agents []Agent  // by name
	Notes  []string // problems to show to people: what was left out or is odd
	// Names lists the names of all files that were seen, including ignored ones, and of the
	// built-in agents.
	Names []string
}

// Get returns the agent with a name.
func (f Found) Get(name string) (Agent, bool) {
	i := slices.IndexFunc(f.Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return f.Agents[i], true
}

// maxAgents bounds how many agents are found, not counting the built-in ones.
const maxAgents = 100

// Places says where to look, and which models and tools an agent may name.
type Places struct {
	definition.Places
	KnownModel func(string) bool       // by its name in config.toml
	KnownTool  func(string) bool       // by its name
	CheckRule  func(rule string) error // returns why a tool with a pattern is invalid; nil accepts all
}

// Find returns the agents, sorted by name.
func Find(p Places) Found {
	f := finder{Finder: definition.New("agents", maxAgents, p.Places), places: p, named: map[string]Agent{}}
	f.Each(f.search)
	for _, agent := range Builtin() {
		if _, taken := f.named[agent.Name]; !taken {
			f.named[agent.Name] = agent
		}
		f.names = append(f.names, agent.Name)
	}
	f.checkSubagents()
	found := Found{Notes: f.Notes, Names: f.names}
	for _, name := range slices.Sorted(maps.Keys(f.named)) {
		found.Agents = append(found.Agents, f.named[name])
	}
	return found
}

// FindIn returns only the agents of extensions. Their models and tools are not checked.
func FindIn(extensions ...definition.Extension) Found {
	p := Places{Places: definition.Places{Cwd: "/", Extensions: extensions}}
	f := finder{Finder: definition.New("agents", maxAgents, p.Places), places: p, named: map[string]Agent{}}
	f.EachExtension("agents", f.search)
	found := Found{Notes: f.Notes, Names: f.names}
	for _, name := range slices.Sorted(maps.Keys(f.named)) {
		found.Agents = append(found.Agents, f.named[name])
	}
	return found
}

// finder collects agents in the order of their precedence.
type finder struct {
	*definition.Finder
	places Places
	named  map[string]Agent
	seen   []string // searched folders, with symbolic links resolved
	names  []string
}

// search reads the Markdown files of a folder in the order of their names. It does not
// descend into subfolders.
func (f *finder) search(folder, scope string) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil || slices.Contains(f.seen, real) {
		return
	}
	f.seen = append(f.seen, real)
	if info, err := os.Stat(folder); err == nil && !info.IsDir() { // an extension can name files
		f.take(folder, scope)
		return
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.Note("%s cannot be read: %v", folder, err)
		return
	}
	for _, entry := range entries {
		if strings.EqualFold(filepath.Ext(entry.Name()), ".md") {
			f.take(filepath.Join(folder, entry.Name()), scope)
		}
	}
}

// take reads the agent definition in a file.
func (f *finder) take(path, scope string) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	f.names = append(f.names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	f.Take(path, scope, definition.ReadNamedByFile, func(d definition.Document) bool {
		f.names = append(f.names, d.Name)
		tools, without := Named(d.Fields)
		agent := Agent{Written: Written{tools, without, text(d.Fields["model"])}, Name: d.Name, Description: d.Description, Scope: Scope(scope), Path: path, Body: d.Body}
		if !f.equip(&agent, d) {
			return false
		}
		f.named[agent.Name] = agent
		return true
	})
}

func text(value any) string {
	s, _ := value.(string)
	return strings.TrimSpace(s)
}
