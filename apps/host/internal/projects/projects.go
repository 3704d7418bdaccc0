// Package projects answers the requests about projects: which folders are projects, whether
// a person trusts them, which MCP servers, hooks and extensions of theirs may run, and which skills
// and notes their sessions have.
package projects

import (
	"context"
	"log/slog"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/extension"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

var none = api.Empty{}

// Sessions lists the sessions of a project.
type Sessions interface {
	List(projectID string) []api.SessionSummary
}

// Skills finds the skills for work in a folder.
type Skills interface {
	Skills(folder string) session.Skills
	// Enabled reports whether a skill is used there.
	Enabled(folder, skill string) bool
}

// Options are the parts that the handlers call. All are required.
type Options struct {
	Logger   *slog.Logger
	List     *state.Projects
	Trust    *state.Trust
	Hub      *dispatch.Hub
	Sessions Sessions
	Servers  *mcp.Manager
	Hooks    *hook.Manager
	// WhileUnexpected calls a function unless a session of another host is about to arrive in
	// the project. Until it returns, no such session is accepted.
	WhileUnexpected func(projectID string, do func() error) error
	// Extensions are the folders that bundle skills, agents, hooks and servers.
	Extensions *extension.Manager
	// Unavailable returns why the sessions of a project cannot be reached, or "".
	Unavailable func(projectID string) string
	Skills      Skills
	Switches    *state.Switches
	Memory      *memory.Notes
	// TrustChanged is called after the trust in a folder changed.
	TrustChanged func()
}

// shared is what all requests need.
type shared struct {
	log  *slog.Logger
	list *state.Projects
	hub  *dispatch.Hub
}

// folder returns the folder of a project; "" is every project and has none.
func (s *shared) folder(projectID string) (string, error) {
	if projectID == "" {
		return "", nil
	}
	project, err := s.list.Find(projectID)
	return project.Path, err
}

// Projects answers the requests about projects.
type Projects struct {
	*shared
	options Options
}

// New makes the handlers.
func New(o Options) *Projects {
	return &Projects{shared: &shared{log: o.Logger, list: o.List, hub: o.Hub}, options: o}
}

// Endpoints are the requests about projects, and about what belongs to them.
func (p *Projects) Endpoints() []dispatch.Endpoint {
	skills := &skillRequests{shared: p.shared, skills: p.options.Skills, switches: p.options.Switches}
	notes := &memoryRequests{shared: p.shared, notes: p.options.Memory}
	servers := &serverRequests{shared: p.shared, manager: p.options.Servers}
	hooks := &hookRequests{shared: p.shared, manager: p.options.Hooks}
	extensions := &extensionRequests{shared: p.shared, manager: p.options.Extensions, servers: p.options.Servers, trustChanged: p.options.TrustChanged}
	return slices.Concat([]dispatch.Endpoint{
		dispatch.Serve(api.ListProjects, p.listProjects),
		dispatch.Serve(api.AddProject, p.addProject),
		dispatch.Serve(api.RemoveProject, p.removeProject),
		dispatch.Serve(api.ListDir, p.listDir),
		dispatch.Serve(api.TrustProject, p.trustProject),
	}, skills.endpoints(), notes.endpoints(), servers.endpoints(), hooks.endpoints(), extensions.endpoints())
}

func (p *Projects) listProjects(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.ListProjectsResponse, error) {
	seen := slices.DeleteFunc(p.Listed(), func(project api.Project) bool { return !c.SeesProject(project.ID) })
	return api.ListProjectsResponse{Projects: seen}, nil
}

func (p *Projects) addProject(_ context.Context, _ *dispatch.Conn, r api.AddProjectRequest) (api.AddProjectResponse, error) {
	project, err := p.list.Add(r.Path)
	if err != nil {
		return api.AddProjectResponse{}, err
	}
	p.hub.Notify(api.ProjectsChanged{Projects: p.Listed()})
	project.Trusted, project.Unavailable = p.options.Trust.Has(project.Path), p.options.Unavailable(project.ID)
	return api.AddProjectResponse{Project: project}, nil
}

func (p *Projects) removeProject(_ context.Context, _ *dispatch.Conn, r api.RemoveProjectRequest) (api.Empty, error) {
	if err := p.options.WhileUnexpected(r.ProjectID, func() error { return p.remove(r.ProjectID) }); err != nil {
		return none, err
	}
	p.hub.Notify(api.ProjectsChanged{Projects: p.Listed()})
	return none, nil
}

// remove removes a project that has no sessions.
func (p *Projects) remove(id string) error {
	if n := len(p.options.Sessions.List(id)); n > 0 {
		return api.Errorf(api.KindProjectInUse, "the project was not removed: it has sessions (%d), and only a project without sessions can be removed", n)
	}
	if why := p.options.Unavailable(id); why != "" {
		return api.Errorf(api.KindUnavailable, "the project was not removed: it is unknown whether it has sessions, because their provider is unavailable: %s", why)
	}
	removed, err := p.list.Remove(id)
	if err != nil {
		return err
	}
	if !removed {
		return state.UnknownProject(id)
	}
	return nil
}

func (p *Projects) listDir(_ context.Context, _ *dispatch.Conn, r api.ListDirRequest) (api.ListDirResponse, error) {
	return listFolder(r.Path)
}

func (p *Projects) trustProject(_ context.Context, _ *dispatch.Conn, r api.TrustProjectRequest) (api.TrustProjectResponse, error) {
	project, err := p.list.Find(r.ProjectID)
	if err != nil {
		return api.TrustProjectResponse{}, err
	}
	if err := p.options.Trust.Set(project.Path, r.Trusted); err != nil {
		return api.TrustProjectResponse{}, err
	}
	p.log.Info("trust of a folder changed", "project", project.ID, "trusted", r.Trusted)
	p.options.Servers.Prune()
	p.hub.Notify(api.ProjectsChanged{Projects: p.Listed()})
	p.hub.Notify(api.MCPServersChanged{ProjectID: project.ID})
	p.hub.Notify(api.HooksChanged{ProjectID: project.ID})
	p.hub.Notify(api.ExtensionsChanged{})
	p.options.TrustChanged()
	project.Trusted = r.Trusted
	return api.TrustProjectResponse{Project: project}, nil
}

// Listed returns the projects as clients see them.
func (p *Projects) Listed() []api.Project {
	list := p.list.List()
	for i := range list {
		list[i].Trusted = p.options.Trust.Has(list[i].Path)
		list[i].Unavailable = p.options.Unavailable(list[i].ID)
	}
	return list
}
