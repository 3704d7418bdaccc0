package host

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// newMCP makes the manager of the MCP servers. They get the host's environment
// without the keys of providers, and a configuration cannot ask for one either.
func newMCP(h *Host, getenv func(string) string) (*mcp.Manager, error) {
	consents, err := state.LoadConsents(h.paths.MCP())
	if err != nil {
		return nil, err
	}
	keys := h.models.config.WithheldEnvs()
	hidden := func(name string) bool { return slices.Contains(keys, name) }
	return mcp.New(mcp.Options{
		Logger: h.log, Version: h.cfg.Version, Servers: h.models.config.MCP, Consents: consents, Trusted: h.trust.Has,
		Getenv: func(name string) string {
			if hidden(name) {
				return ""
			}
			return getenv(name)
		},
		Environ: func() []string {
			return slices.DeleteFunc(os.Environ(), func(pair string) bool {
				name, _, _ := strings.Cut(pair, "=")
				return hidden(name)
			})
		},
		Withheld: hidden,
		Patience: mcp.DefaultPatience, Ledger: h.ledger,
	}), nil
}

func (h *Host) listMCPServers(_ context.Context, _ *conn, r api.ListMCPServersRequest) (api.ListMCPServersResponse, error) {
	project, ok := h.projects.Get(r.ProjectID)
	if !ok {
		return api.ListMCPServersResponse{}, noProject(r.ProjectID)
	}
	servers, problems := h.mcp.List(project.Path)
	return api.ListMCPServersResponse{Servers: servers, Problems: problems}, nil
}

func (h *Host) decideMCPServer(_ context.Context, c *conn, r api.DecideMCPServerRequest) (response api.DecideMCPServerResponse, err error) {
	project, ok := h.projects.Get(r.ProjectID)
	if !ok {
		return response, noProject(r.ProjectID)
	}
	if r.Allow { // what is started runs without being asked about
		if err := c.mayLoosen(); err != nil {
			return response, err
		}
	}
	response.Server, err = h.mcp.Decide(project.Path, r.Name, r.Hash, r.Allow, c.clientID)
	switch {
	case errors.Is(err, mcp.ErrUnknown):
		return response, api.Errorf(api.KindNotFound, "the .mcp.json of %s names no server %.64q that could be decided about: list the servers to see them", project.Path, r.Name)
	case errors.Is(err, mcp.ErrChanged):
		return response, api.Errorf(api.KindConflict, "the configuration of %.64q is not the one that was shown: look at it again", r.Name)
	case err == nil:
		h.log.Info("decided about an MCP server", "project", project.ID, "server", r.Name, "allowed", r.Allow, "client", c.clientID)
		h.tell(api.MCPServersChanged{ProjectID: project.ID})
	}
	return response, err
}
