// Package preset finds the agents that another agent can give a task to: Markdown
// files whose front matter has a name, a description, and perhaps a model and
// tools, and whose body is what the agent is told. It reads as leniently as package
// skill: a fault is noted, and only a file without a description or without
// readable front matter is left out.
//
// Searched are .scorel/agents, .agents/agents and .claude/agents in the working
// folder and those above it up to the root of the repository, then the same under
// the user's home. The first of a name counts; last come those that are built in.
package preset

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/apps/host/internal/skill"
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

// Places say where to look.
type Places struct {
	Cwd         string                  // absolute
	Trusted     bool                    // the project's own agents count
	UserHome    string                  // absolute; "" is none
	ScorelHome  string                  // absolute; its folder "agents" stands for .scorel/agents of the home; "" is none
	TrustAdvice string                  // what a person does to trust the folder; part of a note
	KnownModel  func(string) bool       // by its name in config.toml
	KnownTool   func(string) bool       // by its name
	CheckRule   func(rule string) error // why a tool with a pattern does not read; nil takes all
}

// Find returns the agents, by name.
func Find(p Places) Found {
	f := finder{places: p, named: map[string]Agent{}}
	folders := instructions.Folders(p.Cwd)
	f.root = resolved(folders[len(folders)-1])
	user := userFolders(p)
	for _, folder := range folders {
		for _, place := range places() {
			f.project(filepath.Join(folder, place), user)
		}
	}
	for _, folder := range user {
		f.search(folder, ScopeUser)
	}
	for _, agent := range Builtin() {
		if _, taken := f.named[agent.Name]; !taken {
			f.named[agent.Name] = agent
		}
	}
	found := Found{Notes: f.notes}
	for _, name := range slices.Sorted(maps.Keys(f.named)) {
		found.Agents = append(found.Agents, f.named[name])
	}
	return found
}

func places() []string {
	return []string{filepath.Join(".scorel", "agents"), filepath.Join(".agents", "agents"), filepath.Join(".claude", "agents")}
}

func userFolders(p Places) []string {
	var folders []string
	if p.ScorelHome != "" {
		folders = append(folders, filepath.Join(p.ScorelHome, "agents"))
	}
	if p.UserHome != "" {
		for _, place := range places() {
			folders = append(folders, filepath.Join(p.UserHome, place))
		}
	}
	return folders
}

// finder collects agents in the order of their precedence.
type finder struct {
	places Places
	root   string // of the project, without symbolic links
	named  map[string]Agent
	seen   []string // folders that were searched, without symbolic links
	notes  []string
}

func (f *finder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// project searches a folder of the project. One that is the user's own, as in a
// home that is a repository, is searched as such later.
func (f *finder) project(folder string, user []string) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() || slices.Contains(user, folder) {
		return
	}
	switch {
	case !f.places.Trusted:
		f.note("%s is left out, because the folder is not trusted: %s", folder, cmp.Or(f.places.TrustAdvice, "trust it first"))
	case !instructions.Within(f.root, folder):
		f.note("%s leads out of the project and is left out", folder)
	default:
		f.search(folder, ScopeProject)
	}
}

// search reads the Markdown files of a folder, by name, and none below it.
func (f *finder) search(folder string, scope Scope) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil || slices.Contains(f.seen, real) {
		return
	}
	f.seen = append(f.seen, real)
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.note("%s cannot be read: %v", folder, err)
		return
	}
	for _, entry := range entries {
		if strings.EqualFold(filepath.Ext(entry.Name()), ".md") {
			f.take(filepath.Join(folder, entry.Name()), scope)
		}
	}
}

// take reads the agent of a file.
func (f *finder) take(path string, scope Scope) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	if scope == ScopeProject && !instructions.Within(f.root, path) {
		f.note("%s leads out of the project and is left out", path)
		return
	}
	document, err := skill.ReadNamed(path)
	if err != nil {
		f.note("%s is left out: %v", path, err)
		return
	}
	for _, warning := range document.Warnings {
		f.note("%s: %s", path, warning)
	}
	if first, taken := f.named[document.Name]; taken {
		f.note("%s is left out: %s has the same name %q and comes first", path, first.Path, document.Name)
		return
	}
	if len(f.named) >= maxAgents {
		f.note("%s is left out: there are %d agents already", path, maxAgents)
		return
	}
	agent := Agent{Name: document.Name, Description: document.Description, Scope: scope, Path: path, Body: document.Body}
	if !f.equip(&agent, document.Fields) {
		return
	}
	f.named[agent.Name] = agent
}

func text(value any) string {
	s, _ := value.(string)
	return strings.TrimSpace(s)
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
