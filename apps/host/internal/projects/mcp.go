package projects

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (p *Projects) listMCPServers(_ context.Context, _ *dispatch.Conn, r api.ListMCPServersRequest) (api.ListMCPServersResponse, error) {
	project, err := p.list.Find(r.ProjectID)
	if err != nil {
		return api.ListMCPServersResponse{}, err
	}
	servers, problems := p.servers.List(project.Path)
	return api.ListMCPServersResponse{Servers: servers, Problems: problems}, nil
}

func (p *Projects) decideMCPServer(_ context.Context, c *dispatch.Conn, r api.DecideMCPServerRequest) (response api.DecideMCPServerResponse, err error) {
	project, err := p.list.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Allow { // what is started runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	response.Server, err = p.servers.Decide(project.Path, r.Name, r.Hash, r.Allow, c.ClientID())
	switch {
	case errors.Is(err, mcp.ErrUnknown):
		return response, api.Errorf(api.KindNotFound, "the .mcp.json of %s has no server %.64q: list the servers to see them", project.Path, r.Name)
	case errors.Is(err, mcp.ErrChanged):
		return response, api.Errorf(api.KindConflict, "the configuration of %.64q has changed since it was shown: review it again", r.Name)
	case err == nil:
		p.log.Info("an MCP server was allowed or denied", "project", project.ID, "server", r.Name, "allowed", r.Allow, "client", c.ClientID())
		p.hub.Notify(api.MCPServersChanged{ProjectID: project.ID})
	}
	return response, err
}
