package state

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Extension is an extension that a person added. Whether it is used in a project is decided by
// Switches.
type Extension struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`     // of all its files
	Source   string `json:"source"`   // api.ExtensionFolder or api.ExtensionGit
	Location string `json:"location"` // folder, or address of the repository
	Ref      string `json:"ref,omitempty"`
	Folder   string `json:"folder,omitempty"` // in the repository
	Commit   string `json:"commit,omitempty"`
	AddedBy  string `json:"addedBy"` // client id, or "host"
	AddedAt  int64  `json:"addedAt"` // Unix milliseconds
}

// Extensions are the extensions that people added, sorted by name.
type Extensions struct {
	path string

	mu   sync.Mutex
	list []Extension
}

type extensionsFile struct {
	Extensions []Extension `json:"extensions"`
}

// LoadExtensions reads the extensions from path.
func LoadExtensions(path string) (*Extensions, error) {
	var file extensionsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Extensions{path: path, list: file.Extensions}, nil
}

// All returns the extensions, sorted by name.
func (e *Extensions) All() []Extension {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}

// Find returns an extension by name.
func (e *Extensions) Find(name string) (Extension, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.list, func(have Extension) bool { return have.Name == name })
	if i < 0 {
		return Extension{}, false
	}
	return e.list[i], true
}

// Put adds an extension or replaces the one of its name. It is on disk when Put returns.
func (e *Extensions) Put(extension Extension) error {
	extension.AddedAt = time.Now().UnixMilli()
	e.mu.Lock()
	defer e.mu.Unlock()
	list := append(e.without(extension.Name), extension)
	slices.SortFunc(list, func(a, b Extension) int { return strings.Compare(a.Name, b.Name) })
	return e.store(list)
}

// Remove removes an extension, if there is one of that name.
func (e *Extensions) Remove(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.store(e.without(name))
}

func (e *Extensions) without(name string) []Extension {
	return slices.DeleteFunc(slices.Clone(e.list), func(have Extension) bool { return have.Name == name })
}

func (e *Extensions) store(list []Extension) error {
	if slices.Equal(list, e.list) {
		return nil
	}
	if err := writeJSON(e.path, extensionsFile{list}); err != nil {
		return err
	}
	e.list = list
	return nil
}
