package state

import (
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// SwitchKind is what a Switch is about.
type SwitchKind string

// Kinds of switches.
const (
	SwitchSkill  SwitchKind = "skill"
	SwitchServer SwitchKind = "mcp_server"
	// SwitchExtension is about an extension with all that it has.
	SwitchExtension SwitchKind = "extension"
)

// Switch says that people disabled or enabled something, by its name.
type Switch struct {
	Kind    SwitchKind `json:"kind"`
	Name    string     `json:"name"`
	Project string     `json:"project,omitempty"` // absolute path; "" is every project
	Enabled bool       `json:"enabled"`
}

// Switches are the skills, MCP servers and extensions that people disabled or enabled. The switch of a
// project comes before that of every project; without either, a thing is enabled.
type Switches struct {
	path string

	mu   sync.Mutex
	list []Switch
}

// maxSwitches bounds the file.
const maxSwitches = 10_000

type switchesFile struct {
	Switches []Switch `json:"switches"`
}

// LoadSwitches reads the switches from path.
func LoadSwitches(path string) (*Switches, error) {
	var file switchesFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Switches{path: path, list: file.Switches}, nil
}

// Enabled reports whether a thing is enabled in a project; "" asks about every project.
func (s *Switches) Enabled(kind SwitchKind, name, project string) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return enabledIn(s.list, kind, name, project)
}

func enabledIn(list []Switch, kind SwitchKind, name, project string) bool {
	enabled := true
	for _, have := range list {
		switch {
		case have.Kind != kind || have.Name != name:
		case have.Project == project:
			return have.Enabled
		case have.Project == "":
			enabled = have.Enabled
		}
	}
	return enabled
}

// Set disables or enables a thing in a project, or in every project. It is on disk when Set
// returns. What every project has anyway is not stored for one.
func (s *Switches) Set(kind SwitchKind, name, project string, enabled bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(s.list), func(have Switch) bool {
		return have.Kind == kind && have.Name == name && have.Project == project
	})
	if enabledIn(list, kind, name, project) != enabled {
		list = append(list, Switch{kind, name, project, enabled})
	}
	return s.store(list)
}

// Forget drops every switch of a thing, or those of one project, so that a new one of the
// same name begins enabled.
func (s *Switches) Forget(kind SwitchKind, name, project string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(s.list), func(have Switch) bool {
		return have.Kind == kind && have.Name == name && (project == "" || have.Project == project)
	})
	return s.store(list)
}

func (s *Switches) store(list []Switch) error {
	if slices.Equal(list, s.list) {
		return nil
	}
	if len(list) > maxSwitches {
		return api.Errorf(api.KindConflict, "%d skills, servers and extensions are disabled or enabled one by one, which is the limit: enable some of them", maxSwitches)
	}
	if err := writeJSON(s.path, switchesFile{list}); err != nil {
		return err
	}
	s.list = list
	return nil
}
