package state

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Projects is the registry of folders that sessions run in. A project's id is derived from
// its path, so adding a folder twice yields the same project.
type Projects struct {
	path string

	mu   sync.Mutex
	list []api.Project
}

type projectsFile struct {
	Projects []api.Project `json:"projects"`
}

// LoadProjects reads the registry from path.
func LoadProjects(path string) (*Projects, error) {
	var file projectsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Projects{path: path, list: file.Projects}, nil
}

// Add registers a folder as a project. Errors are *api.Error of KindInvalidPath, or errors
// of writing the registry.
func (p *Projects) Add(path string) (api.Project, error) {
	folder, err := Canonical(path)
	if err != nil {
		return api.Project{}, err
	}
	if err := p.notOurs(folder); err != nil {
		return api.Project{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	project := api.Project{ID: projectID(folder), Name: filepath.Base(folder), Path: folder}
	if slices.ContainsFunc(p.list, func(have api.Project) bool { return have.ID == project.ID }) {
		return project, nil
	}
	list := append(slices.Clone(p.list), project)
	if err := writeJSON(p.path, projectsFile{list}); err != nil {
		return api.Project{}, err
	}
	p.list = list
	return project, nil
}

// notOurs rejects scorel's home and everything in it, because a project is written to.
func (p *Projects) notOurs(folder string) error {
	home, err := filepath.EvalSymlinks(filepath.Dir(p.path))
	if err != nil {
		return nil // then nothing is inside it
	}
	if rel, err := filepath.Rel(home, folder); err == nil && filepath.IsLocal(rel) {
		return api.Errorf(api.KindInvalidPath, "%s belongs to scorel itself (keys, settings and logs) and cannot be a project: give another folder", folder)
	}
	return nil
}

// Remove removes a project; false if there is none with that id.
func (p *Projects) Remove(id string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(p.list), func(have api.Project) bool { return have.ID == id })
	if len(list) == len(p.list) {
		return false, nil
	}
	if err := writeJSON(p.path, projectsFile{list}); err != nil {
		return false, err
	}
	p.list = list
	return true, nil
}

// Get returns a project.
func (p *Projects) Get(id string) (api.Project, bool) {
	for _, project := range p.List() {
		if project.ID == id {
			return project, true
		}
	}
	return api.Project{}, false
}

// Find is Get with an error for clients if no project has that id.
func (p *Projects) Find(id string) (api.Project, error) {
	if project, ok := p.Get(id); ok {
		return project, nil
	}
	return api.Project{}, UnknownProject(id)
}

// UnknownProject returns the error for a client whose id belongs to no project.
func UnknownProject(id string) *api.Error {
	return api.Errorf(api.KindNotFound, "no project %.64q on this host: list the projects to see their ids", id)
}

// UnknownSession returns the error for a client whose id belongs to no session.
func UnknownSession(id string) *api.Error {
	if len(id) > 64 {
		id = id[:64] + "..."
	}
	return api.Errorf(api.KindNotFound, "no session %s on this host: list the sessions to see their ids", id)
}

// List returns the projects sorted by name, each with whether its folder currently exists.
func (p *Projects) List() []api.Project {
	p.mu.Lock()
	list := append([]api.Project{}, p.list...)
	p.mu.Unlock()
	for i := range list {
		info, err := os.Stat(list[i].Path)
		list[i].Missing = err != nil || !info.IsDir()
	}
	slices.SortFunc(list, func(a, b api.Project) int {
		if c := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return list
}

// Canonical resolves the path of an existing folder to an absolute one without symbolic
// links, so that each folder has a single name.
func Canonical(path string) (string, error) {
	switch {
	case path == "" || len(path) > api.MaxPath || strings.ContainsRune(path, 0):
		return "", api.Errorf(api.KindInvalidPath, "the path is empty or too long: give the absolute path of a folder")
	case !filepath.IsAbs(path):
		return "", api.Errorf(api.KindInvalidPath, "%s is not an absolute path: begin it with %s", path, string(filepath.Separator))
	}
	if kernel, found := throughKernel(path); found {
		return "", api.Errorf(api.KindInvalidPath, "%s points into %s, which belongs to the kernel: give the folder itself", path, kernel)
	}
	folder, err := filepath.EvalSymlinks(filepath.Clean(path))
	if err != nil {
		return "", api.Errorf(api.KindInvalidPath, "the folder %s cannot be used: %s", path, reason(err))
	}
	info, err := os.Stat(folder)
	if err != nil {
		return "", api.Errorf(api.KindInvalidPath, "the folder %s cannot be used: %s", path, reason(err))
	}
	if !info.IsDir() {
		return "", api.Errorf(api.KindInvalidPath, "%s is not a folder", path)
	}
	return folder, nil
}

func reason(err error) string {
	switch {
	case os.IsNotExist(err):
		return "it does not exist"
	case os.IsPermission(err):
		return "permission denied"
	}
	return fmt.Sprint(err)
}

func projectID(folder string) string {
	sum := sha256.Sum256([]byte("scorel project v1\x00" + folder))
	return "prj_" + hex.EncodeToString(sum[:8])
}
