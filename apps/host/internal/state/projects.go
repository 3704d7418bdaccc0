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

// Projects is the registry of folders that sessions run in. A project's id is
// made from its path, so adding a folder twice gives the same project.
type Projects struct {
	path string

	mu   sync.Mutex
	list []api.Project
}

type projectsFile struct {
	Projects []api.Project `json:"projects"`
}

// LoadProjects reads the registry.
func LoadProjects(path string) (*Projects, error) {
	var file projectsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Projects{path: path, list: file.Projects}, nil
}

// Add makes a folder a project. Errors are *api.Error of KindInvalidPath, or
// those of writing the registry.
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

// notOurs refuses the home of scorel and what lies in it: a project is written to.
func (p *Projects) notOurs(folder string) error {
	home, err := filepath.EvalSymlinks(filepath.Dir(p.path))
	if err != nil {
		return nil // then nothing lies in it
	}
	if rel, err := filepath.Rel(home, folder); err == nil && filepath.IsLocal(rel) {
		return api.Errorf(api.KindInvalidPath, "%s belongs to scorel itself (keys, settings and logs) and can be no project: give another folder", folder)
	}
	return nil
}

// Remove forgets a project; false when there is none with that id.
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

// Get finds a project.
func (p *Projects) Get(id string) (api.Project, bool) {
	for _, project := range p.List() {
		if project.ID == id {
			return project, true
		}
	}
	return api.Project{}, false
}

// List returns the projects by name, each with whether its folder is there now.
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

// Canonical resolves a path to an existing folder: absolute, without symbolic
// links, so that one folder has one name.
func Canonical(path string) (string, error) {
	switch {
	case path == "" || len(path) > api.MaxPath || strings.ContainsRune(path, 0):
		return "", api.Errorf(api.KindInvalidPath, "the path is empty or too long: give the absolute path of a folder")
	case !filepath.IsAbs(path):
		return "", api.Errorf(api.KindInvalidPath, "%s is not an absolute path: begin it with %s", path, string(filepath.Separator))
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
