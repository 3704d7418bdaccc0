package state

import (
	"slices"
	"sync"
)

// Grants of folders that are kept beside config.toml, which stays the person's own.

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
