// Package preset finds the agents that another agent can give a task to: Markdown
// files whose front matter has a name, a description, and perhaps a model and
// tools, and whose body is what the agent is told. Package definition says where they
// lie and how they are read; after those come the ones that are built in.
package preset

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/definition"
)

// Scope is where an agent comes from.
type Scope string

const (
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
	ScopeBuiltin Scope = "built in"
)

// Agent is one preset.
type Agent struct {
	Name        string `json:"name"`        // small letters, digits and hyphens
	Description string `json:"description"` // one line
	Scope       Scope  `json:"scope"`
	Path        string `json:"path,omitempty"`  // of its file; "" when it is built in
	Model       string `json:"model,omitempty"` // name in config.toml; "" is that of who gives the task
	// Tools are all that it may use; without them it may use what is there. A name that
	// ends in * stands for all that begin so.
	Tools []string `json:"tools,omitempty"`
	// Without are those that it may not use.
	Without []string `json:"without,omitempty"`
	// Only are rules that say for which calls it may use the tools that they are about, and
	// Deny rules about calls that it may not make; as in config.toml.
	Only []string `json:"only,omitempty"`
	Deny []string `json:"deny,omitempty"`
	Body string   `json:"body"` // Markdown
}

// Found is what a search came to.
type Found struct {
	Agents []Agent  // by name
	Notes  []string // what is left out or odd, for people
}

// Get returns the agent of a name.
func (f Found) Get(name string) (Agent, bool) {
	i := slices.IndexFunc(f.Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return f.Agents[i], true
}

// maxAgents bounds how many are found, those that are built in not counted.
const maxAgents = 100

// Places say where to look, and what an agent may name.
type Places struct {
	definition.Places
	KnownModel func(string) bool       // by its name in config.toml
	KnownTool  func(string) bool       // by its name
	CheckRule  func(rule string) error // why a tool with a pattern does not read; nil takes all
}

// Find returns the agents, by name.
func Find(p Places) Found {
	f := finder{Finder: definition.New("agents", maxAgents, p.Places), places: p, named: map[string]Agent{}}
	f.Each(f.search)
	for _, agent := range Builtin() {
		if _, taken := f.named[agent.Name]; !taken {
			f.named[agent.Name] = agent
		}
	}
	found := Found{Notes: f.Notes}
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
	seen   []string // folders that were searched, without symbolic links
}

// search reads the Markdown files of a folder, by name, and none below it.
func (f *finder) search(folder, scope string) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil || slices.Contains(f.seen, real) {
		return
	}
	f.seen = append(f.seen, real)
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

// take reads the agent of a file.
func (f *finder) take(path, scope string) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	f.Take(path, scope, definition.ReadNamedByFile, func(d definition.Document) bool {
		agent := Agent{Name: d.Name, Description: d.Description, Scope: Scope(scope), Path: path, Body: d.Body}
		if !f.equip(&agent, d.Fields) {
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
