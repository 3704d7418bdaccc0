package agents

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/subagent"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Endpoints are the requests about agent definitions.
func (s *Agents) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListAgents, s.listAgents),
		dispatch.Serve(api.PreviewAgent, s.previewAgent),
		dispatch.Serve(api.SaveAgent, s.saveAgent),
		dispatch.Serve(api.DeleteAgent, s.deleteAgent),
	}
}

// folder is the folder that agents are looked for in: that of the project, or the
// user's home where it is about every project.
func (s *Agents) folder(projectID string) (string, error) {
	if projectID == "" {
		return cmp.Or(machine.UserHome(), s.Paths.Home), nil
	}
	project, ok := s.Projects.Get(projectID)
	if !ok {
		return "", state.UnknownProject(projectID)
	}
	return project.Path, nil
}

func (s *Agents) places(folder string) agentdef.Places {
	return agentPlaces(s.Context, s.Models.Known, s.Catalog, folder)
}

func (s *Agents) found(folder string) agentdef.Found {
	return agentdef.Find(s.places(folder))
}

func (s *Agents) listAgents(_ context.Context, _ *dispatch.Conn, r api.ListAgentsRequest) (api.ListAgentsResponse, error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return api.ListAgentsResponse{}, err
	}
	found := s.found(folder)
	s.live.notice(folder, found)
	config, problem := s.live.now()
	if problem != "" {
		found.Notes = append(found.Notes, problem+". The previous limits of agents stay in effect.")
	}
	limits := subagentLimits(config.Subagents)
	list := make([]api.AgentInfo, 0, len(found.Agents))
	for _, a := range found.Agents {
		if r.ProjectID == "" && a.Scope == agentdef.ScopeProject {
			continue
		}
		list = append(list, agentInfo(a, limits))
	}
	return api.ListAgentsResponse{Agents: list, Notes: found.Notes}, nil
}

// agentInfo describes an agent as its file has it.
func agentInfo(a agentdef.Agent, limits subagent.Limits) api.AgentInfo {
	_, offered := limits.Allow(a)
	info := api.AgentInfo{Name: a.Name, Scope: api.AgentScope(a.Scope), Path: a.Path, Offered: offered, AgentDraft: api.AgentDraft{
		Description: a.Description, Model: a.Written.Model, Tools: a.Written.Tools, DisallowedTools: a.Written.Without, Subagents: a.Subagents,
		MaxConcurrent: a.MaxConcurrent, MaxTurns: a.MaxTurns, Enabled: !a.Disabled, Prompt: a.Body,
	}}
	if a.Scope == agentdef.ScopeBuiltin {
		info.Scope, info.Tools = api.AgentBuiltin, a.Tools
		return info
	}
	if info.Model == "inherit" {
		info.Model = ""
	}
	if data, err := os.ReadFile(a.Path); err == nil { // else it was deleted a moment ago
		info.Version = agentdef.Version(data)
	}
	return info
}

func (s *Agents) previewAgent(_ context.Context, _ *dispatch.Conn, r api.PreviewAgentRequest) (api.PreviewAgentResponse, error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return api.PreviewAgentResponse{}, err
	}
	found := s.found(folder)
	a, ok := found.Get(r.Name)
	if !ok {
		return api.PreviewAgentResponse{}, noAgent(r.Name)
	}
	if allowed, ok := s.live.limits().Allow(a); ok && !r.Session {
		a = allowed
	}
	set := s.Catalog.Open(tool.Scope{Scratch: s.Paths.Scratch("preview"), Subagents: subagent.New(subagent.Options{Logger: s.Logger}).Team("")})
	defer set.Close()
	context := s.Context.Load(folder)
	set.UseSkills(context.Skills)
	var others []tool.AgentInfo
	for _, other := range found.Agents {
		if !other.Disabled && a.MayDelegate(other.Name) {
			others = append(others, tool.AgentInfo{Name: other.Name, Description: other.Description})
		}
	}
	set.UseAgents(others)
	response := api.PreviewAgentResponse{Tools: []string{}, Model: cmp.Or(a.Model, s.Models.Default()), MaxTurns: a.MaxTurns}
	tools := slices.DeleteFunc(slices.Clone(set.Tools()), func(t agent.Tool) bool {
		name := t.Spec().Name
		return r.Session && !a.MayUse(name) || !r.Session && !subagent.MayUse(a, name)
	})
	for _, t := range tools {
		response.Tools = append(response.Tools, t.Spec().Name)
	}
	slices.Sort(response.Tools)
	more := subagent.TaskPrompt(a)
	if r.Session {
		more = personaPrompt(a)
	} else {
		response.MaxTurns = cmp.Or(a.MaxTurns, subagent.DefaultTurns)
	}
	response.Prompt = agent.SystemPrompt(tools, folder, context) + more
	return response, nil
}

func noAgent(name string) error {
	return api.Errorf(api.KindNotFound, "there is no agent %.80q: `scorel agent list` shows the agents, and why a file is left out", name)
}

// personaPrompt follows the system prompt of a session that runs as an agent.
func personaPrompt(a agentdef.Agent) string {
	return "\n# Your part\n\nYou are the agent \"" + a.Name + "\".\n\n" + strings.TrimSpace(a.Body) + "\n"
}

// Persona finds the agent that a session in a folder runs as.
func (s *Agents) Persona(cwd, name string) (sessions.Persona, error) {
	a, ok := s.found(cwd).Get(name)
	switch {
	case !ok:
		return sessions.Persona{}, noAgent(name)
	case a.Disabled:
		return sessions.Persona{}, api.Errorf(api.KindConflict, "the agent %s is disabled: enable it with `scorel agent enable %s`", name, name)
	}
	return sessions.Persona{
		Name: a.Name, Model: a.Model, Prompt: personaPrompt(a), MaxTurns: a.MaxTurns, MayDelegate: a.MayDelegate,
		Limits: session.ChildRecord{Agent: a.Name, Tools: a.Tools, Without: a.Without, Only: a.Only, Deny: a.Deny},
	}, nil
}

// agentFile is the file of an agent, in a folder that is held open.
type agentFile struct {
	root *os.Root
	name string // in root
	path string
	data []byte // nil where there is none
}

// openFile opens the file that defines an agent, or the place of a new one.
func (s *Agents) openFile(scope api.AgentScope, projectID, name string) (agentFile, error) {
	if err := agentdef.CheckName(name); err != nil {
		return agentFile{}, api.Errorf(api.KindBadRequest, "%v", err)
	}
	top, within := s.Paths.Home, "agents"
	switch scope {
	case api.AgentUser:
	case api.AgentProject:
		project, ok := s.Projects.Get(projectID)
		if !ok {
			return agentFile{}, state.UnknownProject(projectID)
		}
		if !s.Trust.Has(project.Path) {
			return agentFile{}, api.Errorf(api.KindNotAllowed, "agents of this project are ignored, because its folder is not trusted: to trust it, run `scorel project trust %s`", project.Path)
		}
		top, within = project.Path, filepath.Join(".scorel", "agents")
	default:
		return agentFile{}, api.Errorf(api.KindBadRequest, "unknown scope %.40q: use project or user", scope)
	}
	folder, err := s.folder(projectID)
	if err != nil {
		return agentFile{}, err
	}
	f := agentFile{name: name + ".md"}
	if a, ok := s.found(folder).Get(name); ok && api.AgentScope(a.Scope) == scope {
		if scope == api.AgentUser {
			top, within = filepath.Dir(a.Path), "."
		} else if rel, err := filepath.Rel(top, filepath.Dir(a.Path)); err == nil && filepath.IsLocal(rel) {
			within = rel
		} else {
			return f, api.Errorf(api.KindInvalidPath, "%s is above the project's folder: edit the file itself", a.Path)
		}
		f.name = filepath.Base(a.Path)
	}
	f.path = filepath.Join(top, within, f.name)
	return f, f.open(top, within)
}

func (f *agentFile) open(top, within string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return api.Errorf(api.KindInvalidPath, "the folder %s cannot be opened: %v", top, err)
	}
	defer root.Close()
	if err := root.MkdirAll(within, 0o755); err != nil {
		return api.Errorf(api.KindInvalidPath, "the folder %s cannot be created in %s: %v", within, top, err)
	}
	if f.root, err = root.OpenRoot(within); err != nil {
		return api.Errorf(api.KindInvalidPath, "the folder %s cannot be opened: %v", filepath.Join(top, within), err)
	}
	f.data, err = f.root.ReadFile(f.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(api.Errorf(api.KindInvalidPath, "%s cannot be read: %v", f.path, err), f.root.Close())
	}
	return nil
}

// unchanged returns an error if the file differs from the version that the client read.
func (f *agentFile) unchanged(version string) error {
	switch {
	case f.data == nil && version != "":
		return api.Errorf(api.KindConflict, "%s was deleted in the meantime: read the agents again", f.path)
	case f.data != nil && version == "":
		return api.Errorf(api.KindConflict, "%s already exists: edit that agent, or choose another name", f.path)
	case f.data != nil && agentdef.Version(f.data) != version:
		return api.Errorf(api.KindConflict, "%s was changed in the meantime: read it again and repeat the change", f.path)
	}
	return nil
}

// mayWrite returns an error for a connection that may not change agents of a scope.
func mayWrite(c *dispatch.Conn, scope api.AgentScope) error {
	if scope == api.AgentProject {
		return nil
	}
	return c.CheckWhole("an agent of this scope applies to")
}

func (s *Agents) saveAgent(_ context.Context, c *dispatch.Conn, r api.SaveAgentRequest) (api.SaveAgentResponse, error) {
	if err := mayWrite(c, r.Scope); err != nil {
		return api.SaveAgentResponse{}, err
	}
	s.files.Lock()
	defer s.files.Unlock()
	f, err := s.openFile(r.Scope, r.ProjectID, r.Name)
	if err != nil {
		return api.SaveAgentResponse{}, err
	}
	defer f.root.Close()
	if err := f.unchanged(r.Version); err != nil {
		return api.SaveAgentResponse{}, err
	}
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return api.SaveAgentResponse{}, err
	}
	data, err := s.draft(r, f.data, folder)
	if err != nil {
		return api.SaveAgentResponse{}, api.Errorf(api.KindBadRequest, "%v", err)
	}
	if err := atomicfile.WriteIn(f.root, f.name, data, 0o644); err != nil {
		return api.SaveAgentResponse{}, api.Errorf(api.KindUnavailable, "%s cannot be written: %v", f.path, err)
	}
	s.Logger.Info("an agent definition was written", "path", f.path, "client", c.ClientID())
	s.live.agentsChanged()
	a, ok := s.found(folder).Get(r.Name)
	if !ok {
		return api.SaveAgentResponse{}, noAgent(r.Name)
	}
	return api.SaveAgentResponse{Agent: agentInfo(a, s.live.limits())}, nil
}

// draft is the file that a request asks for. The error describes what is invalid in it.
func (s *Agents) draft(r api.SaveAgentRequest, before []byte, folder string) ([]byte, error) {
	d := r.Agent
	if d.Model != "" && !s.Models.Known(d.Model) {
		return nil, api.Errorf(api.KindUnknownModel, "there is no model %.60q: `scorel model list` lists the models", d.Model)
	}
	names := agentNames(s.Paths, folder)
	for _, name := range d.Subagents {
		if name != r.Name && !slices.Contains(names, name) {
			return nil, api.Errorf(api.KindBadRequest, "subagents: there is no agent %.60q", name)
		}
	}
	data, err := agentdef.Write(before, agentdef.Draft{
		Name: r.Name, Description: strings.Join(strings.Fields(d.Description), " "), Model: d.Model, Tools: d.Tools, Without: d.DisallowedTools, Subagents: d.Subagents,
		MaxConcurrent: d.MaxConcurrent, MaxTurns: d.MaxTurns, Enabled: d.Enabled, Body: d.Prompt,
	})
	if err != nil {
		return nil, err
	}
	_, _, err = agentdef.Parse(data, r.Name, s.places(folder))
	return data, err
}

func (s *Agents) deleteAgent(_ context.Context, c *dispatch.Conn, r api.DeleteAgentRequest) (api.Empty, error) {
	if err := mayWrite(c, r.Scope); err != nil {
		return api.Empty{}, err
	}
	s.files.Lock()
	defer s.files.Unlock()
	f, err := s.openFile(r.Scope, r.ProjectID, r.Name)
	if err != nil {
		return api.Empty{}, err
	}
	defer f.root.Close()
	if f.data == nil {
		return api.Empty{}, noAgent(r.Name)
	}
	if err := f.unchanged(r.Version); err != nil {
		return api.Empty{}, err
	}
	if place, named := s.namedInConfig(r.Name); named {
		return api.Empty{}, api.Errorf(api.KindConflict, "%s refers to the agent %s: remove it there first, or disable the agent instead", place, r.Name)
	}
	if err := f.root.Remove(f.name); err != nil {
		return api.Empty{}, api.Errorf(api.KindUnavailable, "%s cannot be deleted: %v", f.path, err)
	}
	s.Logger.Info("an agent definition was deleted", "path", f.path, "client", c.ClientID())
	s.live.agentsChanged()
	return api.Empty{}, nil
}

// namedInConfig finds where config.toml names an agent, without which the host would not
// start again.
func (s *Agents) namedInConfig(name string) (place string, named bool) {
	config, _ := s.live.now()
	builtin := slices.ContainsFunc(agentdef.Builtin(), func(a agentdef.Agent) bool { return a.Name == name })
	if _, limited := config.Subagents.Agents[name]; limited && !builtin {
		return config.Place(s.Paths.Config(), "crew.agents."+name, name), true
	}
	return config.Place(s.Paths.Config(), "crew.presets", name), !builtin && slices.Contains(config.Subagents.Permitted, name)
}
