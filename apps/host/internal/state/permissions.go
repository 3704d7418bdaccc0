package state

import (
	"maps"
	"slices"
	"sync"
)

// Grants of folders that are kept beside config.toml, which stays the person's own.

// AllowedRules are the rules that people allowed with "always", by project.
type AllowedRules struct {
	path string

	mu       sync.Mutex
	projects map[string][]string
}

type rulesFile struct {
	Projects map[string][]string `json:"projects"` // project id -> rules
}

// LoadAllowedRules reads them.
func LoadAllowedRules(path string) (*AllowedRules, error) {
	var file rulesFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &AllowedRules{path: path, projects: file.Projects}, nil
}

// Of returns the rules of a project.
func (a *AllowedRules) Of(projectID string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.projects[projectID])
}

// Add keeps rules of a project. It returns when they are on disk.
func (a *AllowedRules) Add(projectID string, rules []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	projects := maps.Clone(a.projects)
	if projects == nil {
		projects = map[string][]string{}
	}
	have := slices.Clone(projects[projectID])
	for _, rule := range rules {
		if !slices.Contains(have, rule) {
			have = append(have, rule)
		}
	}
	projects[projectID] = have
	if err := writeJSON(a.path, rulesFile{projects}); err != nil {
		return err
	}
	a.projects = projects
	return nil
}

// Trust is the list of folders whose own settings, skills and MCP servers count.
type Trust struct {
	path string

	mu      sync.Mutex
	folders []string
}

type trustFile struct {
	Folders []string `json:"folders"` // absolute, symbolic links resolved
}

// LoadTrust reads the list.
func LoadTrust(path string) (*Trust, error) {
	var file trustFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Trust{path: path, folders: file.Folders}, nil
}

// Has tells whether a folder is trusted. That of a folder above it says nothing:
// each is trusted by its own name.
func (t *Trust) Has(folder string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.folders, folder)
}

// Set trusts a folder, or no longer. It returns when that is on disk.
func (t *Trust) Set(folder string, trusted bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	folders := slices.DeleteFunc(slices.Clone(t.folders), func(have string) bool { return have == folder })
	if trusted {
		folders = append(folders, folder)
	}
	if err := writeJSON(t.path, trustFile{folders}); err != nil {
		return err
	}
	t.folders = folders
	return nil
}
