package state

import (
	"slices"
	"sync"
)

// Trusted folders are stored separately from config.toml, which only people edit.

// Trust is the list of folders whose own settings, skills and MCP servers are used.
type Trust struct {
	path string
	// Origin returns the project's folder for one that shares its trust, such as a worktree, or
	// the folder itself. It is set before the list is used; nil changes nothing.
	Origin func(folder string) string

	mu      sync.Mutex
	folders []string
}

type trustFile struct {
	Folders []string `json:"folders"` // absolute, symbolic links resolved
}

// LoadTrust reads the list from path.
func LoadTrust(path string) (*Trust, error) {
	var file trustFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Trust{path: path, folders: file.Folders}, nil
}

// Has reports whether a folder is trusted. Trust in a parent folder is not inherited.
func (t *Trust) Has(folder string) bool {
	folder = t.Subject(folder)
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.folders, folder)
}

// Subject returns the folder whose trust counts for a folder.
func (t *Trust) Subject(folder string) string {
	if t.Origin == nil {
		return folder
	}
	return t.Origin(folder)
}

// Set trusts or distrusts a folder. The change is on disk when it returns.
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
