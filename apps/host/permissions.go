package host

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
)

// permissions is what the host knows of what is allowed: config.toml, and what
// people allowed since. It implements sessions.Permissions.
type permissions struct {
	tools   gate.Tools
	rules   gate.Rules // of config.toml
	kept    *state.Rules
	paths   state.Paths
	changed func() // tells of rules that came or went; nil tells nobody
	// sheltered says that commands do not see the home.
	sheltered bool
}

func loadPermissions(paths state.Paths, config state.Permissions, catalog *tool.Catalog) (*permissions, error) {
	p := &permissions{tools: toolSubjects(catalog), paths: paths}
	for _, list := range []struct {
		name  string
		texts []string
		rules *[]gate.Rule
	}{{"allow", config.Allow, &p.rules.Allow}, {"ask", config.Ask, &p.rules.Ask}, {"deny", config.Deny, &p.rules.Deny}} {
		rules, err := gate.ParseRules(list.texts, p.tools)
		if err != nil {
			return nil, fmt.Errorf("%s: permissions.%s: %w", paths.Config(), list.name, err)
		}
		*list.rules = rules
	}
	var err error
	p.kept, err = state.LoadRules(paths.Allowed())
	return p, err
}

// toolSubjects are the tools that rules can be about.
func toolSubjects(catalog *tool.Catalog) gate.Tools {
	tools := gate.Tools{}
	for _, d := range catalog.Definitions() {
		tools[d.Spec.Name] = d.Subject
	}
	return tools
}

// Tools implements sessions.Permissions.
func (p *permissions) Tools() gate.Tools { return p.tools }

// Allow implements sessions.Permissions.
func (p *permissions) Allow(projectID string, rules []string) error {
	if err := p.kept.Add(api.RuleAllow, projectID, rules); err != nil {
		return err
	}
	if p.changed != nil {
		p.changed()
	}
	return nil
}

// Policy implements sessions.Permissions.
func (p *permissions) Policy(project api.Project, sessionID string) gate.Policy {
	policy := gate.Policy{
		Rules: p.rules, Dir: project.Path, Home: userHome(), Resolve: resolveLinks, List: namesIn, GitRuns: gitRuns,
		Private: []string{resolveLinks(p.paths.Home)}, Open: []string{resolveLinks(p.paths.Scratch(sessionID))},
		Readable: readableParts(p.paths), Sheltered: p.sheltered,
		FoldsCase: runtime.GOOS == "darwin" || runtime.GOOS == "windows",
	}
	for _, projectID := range []string{project.ID, ""} {
		policy.Rules = policy.Rules.With(gate.Rules{
			Allow: p.parsed(api.RuleAllow, projectID), Ask: p.parsed(api.RuleAsk, projectID), Deny: p.parsed(api.RuleDeny, projectID),
		})
	}
	return policy
}

// readableParts are those of the home, where links lead. What a link puts elsewhere is no
// part: it is open as any other folder, and a link to the home itself opens nothing.
func readableParts(paths state.Paths) []string {
	home := resolveLinks(paths.Home)
	var parts []string
	for _, part := range paths.Readable() {
		part = resolveLinks(part)
		if rel, err := filepath.Rel(home, part); err == nil && rel != "." && filepath.IsLocal(rel) {
			parts = append(parts, part)
		}
	}
	return parts
}

// parsed are the rules that are kept. One that does not read any more, as of a tool
// that is gone, is about nothing.
func (p *permissions) parsed(kind api.RuleKind, projectID string) []gate.Rule {
	var rules []gate.Rule
	for _, text := range p.kept.Of(kind, projectID) {
		if rule, err := gate.ParseRule(text, p.tools); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// maxMode is the highest mode that a connection may set.
func (h *Host) maxMode(c *conn) api.Mode {
	return gate.Cap(c.grants, h.models.config.Permissions.RemoteMode)
}

func (h *Host) setMode(ctx context.Context, c *conn, r api.SetModeRequest) (api.Empty, error) {
	most := h.maxMode(c)
	switch {
	case !slices.Contains(api.Modes(), r.Mode):
		return none, api.Errorf(api.KindBadRequest, "the mode %.40q is unknown: it must be one of %s", r.Mode, api.ModeNames())
	case gate.Lower(r.Mode, most) != r.Mode:
		return none, api.Errorf(api.KindNotAllowed, "this connection may set modes up to %q: set it on the host's own machine, or raise permissions.remote_mode in its config.toml", most)
	}
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, s.SetMode(ctx, c.clientID, r.Mode)
}

func (h *Host) trustProject(_ context.Context, _ *conn, r api.TrustProjectRequest) (api.TrustProjectResponse, error) {
	project, ok := h.projects.Get(r.ProjectID)
	if !ok {
		return api.TrustProjectResponse{}, noProject(r.ProjectID)
	}
	if err := h.trust.Set(project.Path, r.Trusted); err != nil {
		return api.TrustProjectResponse{}, err
	}
	h.log.Info("trust of a folder changed", "project", project.ID, "trusted", r.Trusted)
	h.tell(api.ProjectsChanged{Projects: h.listedProjects()})
	h.tell(api.MCPServersChanged{ProjectID: project.ID})
	project.Trusted = r.Trusted
	return api.TrustProjectResponse{Project: project}, nil
}

// listedProjects are the projects as entries see them.
func (h *Host) listedProjects() []api.Project {
	list := h.projects.List()
	for i := range list {
		list[i].Trusted = h.trust.Has(list[i].Path)
	}
	return list
}
