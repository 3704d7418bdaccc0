package extension

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Contents is what a copy holds. It never changes.
type Contents struct {
	Name, Version, Description string
	Hash                       string
	Root                       string // absolute path of the copy
	Definitions                definition.Extension
	Hooks                      hook.Bundle
	Servers                    mcp.Bundle
	Shown                      api.ExtensionContents

	tree tree
}

// maxConfig bounds a file of hooks or servers, in bytes.
const maxConfig = 1 << 20

// maxProblems bounds what is shown of problems.
const maxProblems = 100

// reader collects what a copy holds.
type reader struct {
	root     string
	tree     tree
	problems []string
}

// read reads a copy. The error says why it is not an extension.
func read(root string, t tree) (*Contents, error) {
	m, problems, err := readManifest(root, t)
	if err != nil {
		return nil, err
	}
	r := &reader{root: root, tree: t, problems: problems}
	c := &Contents{Name: m.Name, Version: m.Version, Description: m.Description, Hash: t.hash, Root: root, tree: t}
	c.Definitions = definition.Extension{Name: m.Name, Folders: map[string][]string{
		"skills": r.folders("skills", m.Skills), skill.Commands: r.folders(skill.Commands, m.Commands), "agents": r.folders("agents", m.Agents),
	}}
	c.Hooks = hook.Bundle{Extension: m.Name, Hash: t.hash, Root: root}
	for _, f := range r.configs("hooks", m.Hooks, "hooks/hooks.json", "hooks/hooks.toml") {
		c.Hooks.Files = append(c.Hooks.Files, hook.BundleFile(f))
	}
	c.Servers = mcp.Bundle{Extension: m.Name, Root: root}
	for _, f := range r.configs("mcpServers", m.Servers, ".mcp.json") {
		c.Servers.Files = append(c.Servers.Files, mcp.BundleFile(f))
	}
	r.show(c)
	return c, nil
}

func (r *reader) problem(format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, shown(strings.ReplaceAll(fmt.Sprintf(format, args...), r.root+string(filepath.Separator), ""), 500))
	}
}

func (r *reader) folders(kind string, value json.RawMessage) (folders []string) {
	names, problems := r.tree.named(kind, value, kind)
	for _, problem := range problems {
		r.problem("%s", problem)
	}
	for _, name := range names {
		folders = append(folders, filepath.Join(r.root, filepath.FromSlash(name)))
	}
	return folders
}

// config is a file of hooks or servers.
type config struct {
	Name string
	Data []byte
}

// configs reads the files of hooks or servers, and what the manifest itself has of them.
func (r *reader) configs(kind string, value json.RawMessage, usual ...string) (list []config) {
	var inline map[string]json.RawMessage
	if json.Unmarshal(value, &inline) == nil && inline != nil {
		if _, wrapped := inline[kind]; !wrapped {
			value, _ = json.Marshal(map[string]json.RawMessage{kind: value}) // cannot fail: it was JSON
		}
		list = append(list, config{"the manifest", value})
		value = nil
	}
	names, problems := r.tree.named(kind, value, usual...)
	for _, problem := range problems {
		r.problem("%s", problem)
	}
	for _, name := range names {
		data, err := r.load(name)
		if err != nil {
			r.problem("%s is not used: %v", name, err)
			continue
		}
		list = append(list, config{name, data})
	}
	return list
}

func (r *reader) load(name string) ([]byte, error) {
	f, ok := r.tree.files[name]
	if !ok {
		return nil, fmt.Errorf("it is a folder")
	}
	if f.Size > maxConfig {
		return nil, fmt.Errorf("it is larger than the limit of %d MiB", maxConfig>>20)
	}
	data, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
	if err == nil && filepath.Ext(name) == ".json" {
		err = onceOnly(data)
	}
	return data, err
}

// show describes the parts as they are found when they are used.
func (r *reader) show(c *Contents) {
	s := api.ExtensionContents{
		Files: len(r.tree.files), Bytes: r.tree.bytes, Skills: []api.ExtensionPart{}, Commands: []api.ExtensionPart{}, Agents: []api.ExtensionPart{},
	}
	skills := skill.FindIn(c.Definitions)
	for _, info := range skills.Skills {
		part := partOf(info)
		if skill.IsCommand(info.Path) {
			s.Commands = append(s.Commands, part)
		} else {
			s.Skills = append(s.Skills, part)
		}
	}
	agents := agentdef.FindIn(c.Definitions)
	for _, agent := range agents.Agents {
		s.Agents = append(s.Agents, api.ExtensionPart{Name: agent.Name, Description: shown(agent.Description, maxDescription)})
	}
	var ofHooks, ofServers []string
	s.Hooks, ofHooks = hook.Describe(c.Hooks)
	s.Servers, ofServers = mcp.Describe(c.Servers)
	for _, notes := range [][]string{skills.Notes, agents.Notes, ofHooks, ofServers} {
		for _, note := range notes {
			r.problem("%s", note)
		}
	}
	s.Problems = r.problems
	c.Shown = s
}

func partOf(info session.SkillInfo) api.ExtensionPart {
	return api.ExtensionPart{Name: info.Name, Description: shown(info.Description, maxDescription)}
}
